import { randomInt } from 'node:crypto';

const characters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** `<prefix>-<YYYYMMDDhhmmss>-<5 random characters>`, for a time in epoch milliseconds. It may be taken already. */
export function stampedId(prefix: 'asset' | 'group', at: number): string {
  const stamp = new Date(at).toISOString().replace(/\D/g, '').slice(0, 14);
  const suffix = Array.from({ length: 5 }, () => characters.charAt(randomInt(characters.length))).join('');
  return `${prefix}-${stamp}-${suffix}`;
}
