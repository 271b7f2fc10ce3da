/** Compiles model patterns, in which `*` stands for any run of characters, into one test. */
export function matcher(patterns: readonly string[]): (id: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(glob);
  return (id) => exact.has(id) || wild.some((matches) => matches(id));
}

/** Compiles a pattern with stars. The test searches each part between stars once, so its time is linear. */
function glob(pattern: string): (id: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop() ?? '';
  const inner = parts.filter((part) => part !== '');
  return (id) => {
    const end = id.length - last.length;
    if (end < first.length || !id.startsWith(first) || !id.endsWith(last)) return false;
    let at = first.length;
    // The earliest match leaves the most text for the other parts, so no backtracking is needed.
    for (const part of inner) {
      const found = id.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= end;
  };
}

/** Whether an id can match both patterns. */
export function patternsOverlap(left: string, right: string): boolean {
  if (!left.includes('*')) return matcher([right])(left);
  if (!right.includes('*')) return matcher([left])(right);
  const [leftStart, leftEnd] = ends(left);
  const [rightStart, rightEnd] = ends(right);
  // The first star of one pattern can stand for all the inner parts of the other.
  return (
    (leftStart.startsWith(rightStart) || rightStart.startsWith(leftStart)) &&
    (leftEnd.endsWith(rightEnd) || rightEnd.endsWith(leftEnd))
  );
}

/** The text before the first star and the text after the last one. */
function ends(pattern: string): [start: string, end: string] {
  return [pattern.slice(0, pattern.indexOf('*')), pattern.slice(pattern.lastIndexOf('*') + 1)];
}

/** Returns a function that finds the pattern for an id: exact ids win over patterns, longer patterns over shorter ones. */
export function patternFinder(patterns: readonly string[]): (id: string) => string | undefined {
  const rank = (pattern: string) => (pattern.includes('*') ? pattern.length : Number.POSITIVE_INFINITY);
  const ranked = patterns
    .toSorted((left, right) => (rank(left) < rank(right) ? 1 : -1))
    .map((pattern) => ({ pattern, matches: matcher([pattern]) }));
  return (id) => ranked.find(({ matches }) => matches(id))?.pattern;
}
