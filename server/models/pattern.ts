/** Compiles model patterns, in which `*` stands for any run of characters, into one test. */
export function matcher(patterns: readonly string[]): (id: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(glob);
  return (id) => exact.has(id) || wild.some((matches) => matches(id));
}

/** For a pattern with a star: each part between stars is looked for once, so that no pattern takes long. */
function glob(pattern: string): (id: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop() ?? '';
  const inner = parts.filter((part) => part !== '');
  return (id) => {
    const end = id.length - last.length;
    if (end < first.length || !id.startsWith(first) || !id.endsWith(last)) return false;
    let at = first.length;
    // The earliest place leaves the most for what comes after: there is nothing to try again.
    for (const part of inner) {
      const found = id.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= end;
  };
}
