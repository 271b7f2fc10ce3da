import { randomInt } from 'node:crypto';

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** `<prefix>-<YYYYMMDDhhmmss>-<5 characters>`; `time` is in milliseconds since the epoch. */
export function stampedId(prefix: string, time: number): string {
  const stamp = new Date(time).toISOString().replace(/\D/g, '').slice(0, 14);
  const suffix = Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return `${prefix}-${stamp}-${suffix}`;
}
