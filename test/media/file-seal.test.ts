import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { FileSeal, type SealedFile } from '../../server/media/file-seal.ts';

const secret = randomBytes(32).toString('base64url');
const file: SealedFile = {
  url: 'https://bucket.provider.example/a/clip.mp4?signature=9f2c&expires=1924990000',
  channel: 'native-eu',
  userId: 7,
  expiresAt: 1_924_990_000_000,
  publicOnly: false,
};

test('a token opens to its file, hides its content and is deterministic', () => {
  const token = new FileSeal(secret).seal(file);
  expect(new FileSeal(secret).open(token)).toEqual(file);
  expect(new FileSeal(secret).seal({ ...file })).toBe(token);
  expect(token).toMatch(/^[\w-]+$/);
  expect(Buffer.from(token, 'base64url').toString('latin1')).not.toMatch(/provider|native|signature/);
});

test.each([
  ['url', { url: `${file.url}0` }],
  ['channel', { channel: 'native-us' }],
  ['user', { userId: 8 }],
  ['expiry', { expiresAt: file.expiresAt + 1_000 }],
  ['network', { publicOnly: true }],
])('another %s gives another token with another nonce', (_what, change) => {
  const seal = new FileSeal(secret);
  const other = { ...file, ...change };
  expect(seal.open(seal.seal(other))).toEqual(other);
  expect(seal.seal(other).slice(0, 16)).not.toBe(seal.seal(file).slice(0, 16));
});

test('does not open a token with any bit changed', () => {
  const seal = new FileSeal(secret);
  const bytes = Buffer.from(seal.seal(file), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(seal.open(changed.toString('base64url')), `bit ${bit}`).toBeUndefined();
  }
});

test('does not open a token with another secret, a part of it, or another encoding of it', () => {
  const seal = new FileSeal(secret);
  const token = seal.seal(file);
  expect(new FileSeal(randomBytes(32).toString('base64url')).open(token)).toBeUndefined();
  for (let length = 0; length < token.length; length += 1)
    expect(seal.open(token.slice(0, length))).toBeUndefined();
  for (const other of [`${token}=`, `${token}A`, ` ${token}`, token.replaceAll(/[-_]/g, '+'), '....', '\0'])
    if (other !== token) expect(seal.open(other)).toBeUndefined();
});
