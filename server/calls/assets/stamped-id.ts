import { randomInt } from 'node:crypto';

const characters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Makes an id `<prefix>-<YYYYMMDDhhmmss>-<5 random characters>` for a time in epoch ms. It may not be unique. */
export function stampedId(prefix: 'asset' | 'group', at: number): string {
  const stamp = new Date(at).toISOString().replace(/\D/g, '').slice(0, 14);
  const suffix = Array.from({ length: 5 }, () => characters.charAt(randomInt(characters.length))).join('');
  return `${prefix}-${stamp}-${suffix}`;
}
