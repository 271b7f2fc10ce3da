import { hash, randomBytes } from 'node:crypto';

/** Returns a new API key: `sk-` and 256 random bits. Only its hash is stored. */
export function generateKey(): string {
  return `sk-${randomBytes(32).toString('base64url')}`;
}

/** SHA-256 in hex. A slow hash adds nothing, since a key has 256 random bits. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** Abbreviates a key for display: its first 3 and last 4 characters, and no character of a short key. */
export function keyHint(key: string): string {
  return key.length < 20 ? '***' : `${key.slice(0, 3)}***${key.slice(-4)}`;
}
