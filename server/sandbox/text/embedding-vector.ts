/** A text, or its token ids. */
export type EmbeddingText = string | readonly number[];

const words = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+/gu;

/**
 * Computes a lexical hash of a text: its words, word pairs and letter trigrams are counted in one bucket per dimension.
 * The same text always has the same vector, of length 1. Texts with common words have similar vectors. Meaning is not
 * considered.
 */
export function computeVector(text: EmbeddingText, dimensions: number): Float32Array {
  const counts = new Map<string, number>();
  for (const feature of typeof text === 'string' ? textFeatures(text) : tokenFeatures(text))
    counts.set(feature, (counts.get(feature) ?? 0) + 1);
  const sums = new Float64Array(dimensions);
  for (const [feature, count] of counts) {
    const hash = hashText(feature);
    const bucket = hash % dimensions;
    // With random signs, collisions cancel out on average.
    const sign = Math.imul(hash, 0x9e3779b1) < 0 ? -1 : 1;
    sums[bucket] = (sums[bucket] ?? 0) + sign * featureWeight(feature) * Math.sqrt(count);
  }
  const length = Math.hypot(...sums);
  // A zero vector cannot be normalized.
  if (length === 0) sums[0] = 1;
  return Float32Array.from(sums, (sum) => sum / (length || 1));
}

/** Weights by the kind of feature, which is its first character. */
const weights: Readonly<Record<string, number>> = { w: 1, p: 0.6, t: 0.3 };

const featureWeight = (feature: string) => weights[feature.charAt(0)] ?? 1;

function* textFeatures(text: string): Generator<string> {
  const found = text.normalize('NFKC').toLowerCase().match(words) ?? [];
  // A text without words is a single feature.
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

/** Computes the 32-bit FNV-1a hash of the UTF-16 units. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
