import { expect, test } from 'vitest';
import { checkCallbackUrl } from '../../server/tasks/callbacks/callback-url.ts';

const check = (url: string, allowPrivate = false) =>
  checkCallbackUrl(url, 'callback_url', { allowPrivate, secret: undefined });

test.each([
  ['https://app.example/hooks?a=1', 'https://app.example/hooks?a=1'],
  ['HTTP://App.Example:8080', 'http://app.example:8080/'],
  ['https://app.example/ä\0#part', 'https://app.example/%C3%A4%00'],
  ['https://8.8.8.8/', 'https://8.8.8.8/'],
])('%j is normalized to %j', (url, kept) => {
  expect(check(url)).toBe(kept);
});

test.each([
  ['', 'must be an http or https URL'],
  ['app.example/hooks', 'must be an http or https URL'],
  ['https://', 'must be an http or https URL'],
  ['ftp://app.example/', 'must be an http or https URL'],
  ['file:///etc/passwd', 'must be an http or https URL'],
  ['javascript:alert(1)', 'must be an http or https URL'],
  ['https://user@app.example/', 'user name'],
  ['https://:password@app.example/', 'user name'],
  ['http://127.0.0.1/', 'public'],
  ['http://0x7f.1/', 'public'],
  ['http://2130706433/', 'public'],
  ['http://017700000001/', 'public'],
  ['http://[::1]:8080/', 'public'],
  ['http://[::ffff:10.0.0.1]/', 'public'],
  ['http://169.254.169.254/latest', 'public'],
  ['http://localhost:3000/', 'public'],
  ['http://LOCALHOST./', 'public'],
  ['http://api.localhost/', 'public'],
  [`https://app.example/${'a'.repeat(2048)}`, 'at most 2048 characters'],
])('%j is refused', (url, problem) => {
  expect(() => check(url)).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringMatching(`^callback_url: .*${problem}`) }),
  );
});

test.each(['http://127.0.0.1:3000/', 'http://localhost/', 'http://[::1]/'])(
  '%s is accepted when private addresses are allowed',
  (url) => {
    expect(check(url, true)).toBe(url);
    expect(() => check('http://user@localhost/', true)).toThrow('user name');
  },
);
