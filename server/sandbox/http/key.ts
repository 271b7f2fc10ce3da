import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { NativeError } from './native-error.ts';

/** Throws a `NativeError` 401 unless the request carries the key as a bearer token. */
export function checkKey({ headers }: IncomingMessage, key: string): void {
  const [, given = ''] = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '') ?? [];
  // Hashing first makes both sides equally long, which the comparison needs.
  const [first, second] = [given, key].map((text) => createHash('sha256').update(text).digest());
  if (!first || !second || !timingSafeEqual(first, second)) {
    throw new NativeError(401, 'InvalidApiKey', 'The API key is missing or wrong');
  }
}
