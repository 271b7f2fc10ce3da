import { hash, randomBytes } from 'node:crypto';

/** A new API key: `sk-` and 256 random bits. It is shown once; the store keeps its hash. */
export function generateKey(): string {
  return `sk-${randomBytes(32).toString('base64url')}`;
}

/** SHA-256 in hex. A plain hash is right here: a key has 256 random bits, so there is nothing to guess faster. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** What a list may show of a key: its first 3 and last 4 characters, and nothing of a short one. */
export function keyHint(key: string): string {
  return key.length < 20 ? '***' : `${key.slice(0, 3)}***${key.slice(-4)}`;
}
