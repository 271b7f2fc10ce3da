/** The code of one symbol, its first bit the lowest. */
export interface PrefixCode {
  bits: number;
  length: number;
}

const longest = 15;

/** Lengths of an optimal prefix code, at most 15 bits; 0 for a symbol that does not occur. Two symbols must occur. */
export function codeLengths(counts: readonly number[]): number[] {
  for (let weights = counts; ; weights = weights.map((count) => Math.ceil(count / 2))) {
    const lengths = optimalLengths(weights);
    if (Math.max(...lengths) <= longest) return lengths;
  }
}

interface Node {
  weight: number;
  symbols: readonly number[];
}

function optimalLengths(weights: readonly number[]): number[] {
  const lengths = weights.map(() => 0);
  const nodes: Node[] = weights.flatMap((weight, symbol) =>
    weight > 0 ? [{ weight, symbols: [symbol] }] : [],
  );
  while (nodes.length > 1) {
    nodes.sort((first, second) => second.weight - first.weight);
    const [first, second] = [nodes.pop(), nodes.pop()];
    if (!first || !second) break;
    const symbols = [...first.symbols, ...second.symbols];
    for (const symbol of symbols) lengths[symbol] = (lengths[symbol] ?? 0) + 1;
    nodes.push({ weight: first.weight + second.weight, symbols });
  }
  return lengths;
}

/** The canonical codes of these lengths. */
export function canonicalCodes(lengths: readonly number[]): PrefixCode[] {
  const codes = lengths.map((length) => ({ bits: 0, length }));
  let next = 0;
  for (let length = 1; length <= longest; length++, next <<= 1) {
    for (const code of codes) if (code.length === length) code.bits = reverse(next++, length);
  }
  return codes;
}

function reverse(bits: number, length: number): number {
  let reversed = 0;
  for (let bit = 0; bit < length; bit++) reversed |= ((bits >> bit) & 1) << (length - 1 - bit);
  return reversed;
}
