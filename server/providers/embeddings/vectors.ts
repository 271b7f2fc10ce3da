import { field, parseJson } from '../../lib/json.ts';
import { unusableResponse } from '../unusable-response.ts';

export type Encoding = 'float' | 'base64';

/** Translates a provider's vector to a public one. @throws Failure 502 when it is not the vector of this input */
export function publicVector(item: Buffer, index: number, encoding: Encoding): string {
  const sent = parseJson(item);
  if ((field(sent, 'index') ?? index) !== index) throw unusableResponse();
  const embedding = encode(field(sent, 'embedding'), encoding);
  return JSON.stringify({ object: 'embedding', index, embedding });
}

function encode(embedding: unknown, encoding: Encoding): readonly number[] | string {
  if (typeof embedding === 'string') {
    const bytes = /[^\w+/=-]/.test(embedding) ? Buffer.alloc(0) : Buffer.from(embedding, 'base64');
    if (bytes.length === 0 || bytes.length % 4 !== 0) throw unusableResponse();
    return encoding === 'base64' ? embedding : unpack(bytes);
  }
  if (!Array.isArray(embedding) || embedding.length === 0 || !embedding.every(isNumber))
    throw unusableResponse();
  return encoding === 'float' ? embedding : pack(embedding);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Encodes little-endian 32-bit floats in Base64. */
function pack(numbers: readonly number[]): string {
  return Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
}

function unpack(bytes: Buffer): number[] {
  // Copied, because a buffer of the pool may not be aligned.
  const numbers = Array.from(new Float32Array(Uint8Array.from(bytes).buffer));
  if (!numbers.every(Number.isFinite)) throw unusableResponse();
  return numbers;
}
