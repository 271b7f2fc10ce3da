/** A text, or its token numbers. */
export type EmbeddingText = string | readonly number[];

const words = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+/gu;

/**
 * A lexical hash of a text: its words, pairs of words and their letters in threes fall into as many boxes as there are
 * dimensions. The same text always has the same vector, of length 1, and texts that share words have near ones; what
 * they mean is not looked at.
 */
export function embeddingVector(text: EmbeddingText, dimensions: number): Float32Array {
  const counts = new Map<string, number>();
  for (const feature of typeof text === 'string' ? featuresOf(text) : tokenFeatures(text))
    counts.set(feature, (counts.get(feature) ?? 0) + 1);
  const sums = new Float64Array(dimensions);
  for (const [feature, count] of counts) {
    const hash = hashOf(feature);
    const box = hash % dimensions;
    // What falls into one box by chance cancels out as often as it adds up.
    const sign = Math.imul(hash, 0x9e3779b1) < 0 ? -1 : 1;
    sums[box] = (sums[box] ?? 0) + sign * weightOf(feature) * Math.sqrt(count);
  }
  const length = Math.hypot(...sums);
  // Features that all cancel out leave nothing to point anywhere.
  if (length === 0) sums[0] = 1;
  return Float32Array.from(sums, (sum) => sum / (length || 1));
}

/** Each feature begins with its kind. */
const weights: Readonly<Record<string, number>> = { w: 1, p: 0.6, t: 0.3 };

const weightOf = (feature: string) => weights[feature.charAt(0)] ?? 1;

function* featuresOf(text: string): Generator<string> {
  const found = text.normalize('NFKC').toLowerCase().match(words) ?? [];
  // A text of signs alone is told by its signs.
  if (found.length === 0) yield `w${text.trim()}`;
  let previous = '';
  for (const word of found) {
    yield `w${word}`;
    if (previous !== '') yield `p${previous} ${word}`;
    previous = word;
    const bounded = `^${word}$`;
    for (let at = 0; at + 3 <= bounded.length; at += 1) yield `t${bounded.slice(at, at + 3)}`;
  }
}

function* tokenFeatures(tokens: readonly number[]): Generator<string> {
  for (const [index, token] of tokens.entries()) {
    yield `w${token}`;
    if (index > 0) yield `p${tokens[index - 1]} ${token}`;
  }
}

/** FNV-1a of the UTF-16 units, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
