import { decodeBase64 } from '../../base64.ts';
import type { EmbeddingListReply } from '../../index.ts';

export type Vector = ArrayLike<number>;

/** An embedded text. */
export interface Embedded {
  text: string;
  vector: Vector;
}

/** Pairs the vectors of a response with their texts. Decodes the packed format. */
export function pairTexts(texts: readonly string[], { data }: EmbeddingListReply): Embedded[] {
  return data.map(({ embedding, index }) => ({
    text: texts[index] ?? '',
    vector: typeof embedding === 'string' ? unpack(embedding) : embedding,
  }));
}

/** Decodes little-endian 32-bit floats. */
function unpack(base64: string): Float32Array {
  const view = new DataView(Uint8Array.from(decodeBase64(base64)).buffer);
  return Float32Array.from({ length: view.byteLength / 4 }, (_, index) => view.getFloat32(index * 4, true));
}

export const lengthOf = (vector: Vector): number => Math.sqrt(dot(vector, vector));

/** Returns the cosine similarity of two vectors, 0 if one of them has no length. */
export function cosine(left: Vector, right: Vector): number {
  const product = lengthOf(left) * lengthOf(right);
  return product === 0 ? 0 : dot(left, right) / product;
}

function dot(left: Vector, right: Vector): number {
  let sum = 0;
  for (let index = 0; index < left.length; index += 1) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}
