import { field, parseJson } from '../json.ts';
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
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) bytes.writeFloatLE(number, index * 4);
  return bytes.toString('base64');
}

function unpack(bytes: Buffer): number[] {
  const numbers = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
  if (!numbers.every(Number.isFinite)) throw unusableResponse();
  return numbers;
}
