import { expect, test } from 'vitest';
import { addressOf } from '../../server/operations/service/site-address.ts';

test.each([
  [undefined, 'http://127.0.0.1:8080', '/'],
  ['http://one.example:81', 'http://one.example:81', '/'],
  ['https://gateway.example/base', 'https://gateway.example', '/base/'],
  ['https://[2001:db8::1]/a/b/', 'https://[2001:db8::1]', '/a/b/'],
])('the address of %s is shown', (baseUrl, origin, home) => {
  expect(addressOf(baseUrl)).toEqual({ origin, home });
});

test.each(["http://a'b.example", 'http://a"b.example', 'http://a`b.example', 'http://a$b.example'])(
  'the host of %s, which a client selects, is not shown',
  (baseUrl) => {
    expect(addressOf(baseUrl)).toEqual({ origin: 'http://127.0.0.1:8080', home: '/' });
  },
);

test('a path has no characters that end a string', () => {
  expect(addressOf('http://a.example/it\'s "new"<b>&`').home).toMatch(/^\/[\w%]+\/$/);
});
