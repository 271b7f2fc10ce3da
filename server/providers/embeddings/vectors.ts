import { field } from '../json.ts';
import { unusableResponse } from '../unusable.ts';

export type Encoding = 'float' | 'base64';

/**
 * One vector as clients get it, from the object that a provider sent for it.
 *
 * @throws Failure 502 when it is no vector, or not that of the input whose turn it is
 */
export function publicVector(item: Buffer, index: number, encoding: Encoding): string {
  const sent = parsed(item);
  if ((field(sent, 'index') ?? index) !== index) throw unusableResponse();
  const embedding = encoded(field(sent, 'embedding'), encoding);
  return JSON.stringify({ object: 'embedding', index, embedding });
}

function parsed(item: Buffer): unknown {
  try {
    return JSON.parse(item.toString('utf8'));
  } catch {
    throw unusableResponse();
  }
}

/** A vector in the encoding asked for, whichever it came in. */
function encoded(embedding: unknown, encoding: Encoding): readonly number[] | string {
  if (typeof embedding === 'string') {
    const bytes = /[^\w+/=-]/.test(embedding) ? Buffer.alloc(0) : Buffer.from(embedding, 'base64');
    if (bytes.length === 0 || bytes.length % 4 !== 0) throw unusableResponse();
    return encoding === 'base64' ? embedding : unpacked(bytes);
  }
  if (!Array.isArray(embedding) || embedding.length === 0 || !embedding.every(isNumber))
    throw unusableResponse();
  return encoding === 'float' ? embedding : packed(embedding);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Base64 of little-endian 32-bit floats. */
function packed(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) bytes.writeFloatLE(number, index * 4);
  return bytes.toString('base64');
}

function unpacked(bytes: Buffer): number[] {
  const numbers = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
  if (!numbers.every(Number.isFinite)) throw unusableResponse();
  return numbers;
}
