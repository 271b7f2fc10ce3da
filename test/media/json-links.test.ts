import { expect, test } from 'vitest';
import { JsonLinks } from '../../server/media/json-links.ts';

const url = 'https://bucket.provider.example/a.wav?signature=9%2Fc&expires=1';
const link = 'http://gateway.example/v1/files/t0k3n/audio.wav';

/** What comes out of a text that comes in pieces of so many bytes, and which fields held an address. */
function passed(text: string, size = text.length || 1) {
  const fields: string[] = [];
  const links = new JsonLinks((found, field) => {
    fields.push(`${field}=${found}`);
    return found === url ? link : found;
  });
  const bytes = Buffer.from(text);
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Buffer.from(bytes.subarray(at, at + size));
    out.push(...links.write(piece).map((part) => Buffer.from(part)));
    // As it happens when the next ones come.
    piece.fill('"');
  }
  out.push(...links.end());
  return { text: Buffer.concat(out).toString('utf8'), fields };
}

const event = (body: string) => `id:1\nevent:result\n:HTTP_STATUS/200\ndata:${body}\n\n`;
const changed: readonly [what: string, text: string][] = [
  ['an address', `{"url":"${url}"}`],
  ['an address in a list', `{"outputs":[1,"${url}","x"]}`],
  ['an address alone', `"${url}"`],
  ['two addresses', `{"a":"${url}","b" : {"c":\t"${url}"}}`],
  ['an address between audio', `{"data":"${'h'.repeat(30)}","url":"${url}","more":"${'A'.repeat(400)}"}`],
  ['an address of an event', event(`{"output":{"audio":{"data":"","url":"${url}"}}}`)],
  ['an address after a comment with a quote', `: it is 5" long\n${event(`{"url":"${url}"}`)}`],
  ['an address after text with escapes', `{"text":"\\"\\\\\\u00e9 \\\\","url":"${url}"}`],
  ['an address after text in other letters', `{"text":"héllo \u{1f600}","url":"${url}"}`],
];

test.each(changed)('%s, wherever it is cut', (_what, text) => {
  const wanted = text.replaceAll(url, link);
  for (let size = 1; size <= text.length; size += 1) expect(passed(text, size).text, `${size}`).toBe(wanted);
});

test('however it is written', () => {
  const escaped = [
    url.replaceAll('/', '\\/'),
    Array.from(url, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  ];
  for (const written of escaped) {
    for (let size = 1; size <= 40; size += 1)
      expect(passed(`{"url":"${written}"}`, size).text).toBe(`{"url":"${link}"}`);
  }
});

test('an address with an upper-case scheme is found', () => {
  for (const scheme of ['HTTPS', 'HTTP', 'Https'])
    expect(passed(`{"url":"${scheme}://bucket.provider.example/a.wav"}`).fields).toEqual([
      `url=${scheme}://bucket.provider.example/a.wav`,
    ]);
});

test('all else passes as it is', () => {
  const texts = [
    '',
    '{"a":"http is a word","h":"hello","https":"x"}',
    '{"a":"https://unknown.example/","b":null}',
    `{"text":"see ${url} for more"}`,
    `{"text":"${url} has more"}`,
    '{"broken":"https://bucket.provider.example/a',
    `{"broken":"https://bucket\nnext line", "x": "\\`,
    '"\\"',
    '"h',
    'data: no json at all "',
  ];
  for (const text of texts) {
    for (let size = 1; size <= Math.max(1, text.length); size += 1)
      expect(passed(text, size).text).toBe(text);
  }
});

test('the field that holds an address is told', () => {
  const text = `{"url":"${url}", "other" : [ "${url}", {"deep": "${url}"} ], "${'n'.repeat(80)}":"${url}"}`;
  for (let size = 1; size <= text.length; size += 1) {
    const names = passed(text, size).fields.map((one) => one.split('=', 1)[0]);
    expect(names).toEqual(['url', 'other', 'deep', '']);
  }
});

test('audio goes on at once, and no more waits than an address has', () => {
  const links = new JsonLinks((found) => found);
  const lengthOf = (parts: readonly Buffer[]) => parts.reduce((sum, { length }) => sum + length, 0);
  let [taken, given] = [0, 0];
  let most = 0;
  const take = (text: string) => {
    taken += text.length;
    given += lengthOf(links.write(Buffer.from(text)));
    most = Math.max(most, taken - given);
  };
  take('{"data":"AAAA');
  for (let round = 0; round < 100; round += 1) take('A'.repeat(65_536));
  expect(most).toBe(0);
  take('","more":"h');
  for (let round = 0; round < 2_000; round += 1) take('h'.repeat(100));
  expect(most).toBeGreaterThan(1_000);
  expect(most).toBeLessThan(20_000);
  take('"}');
  expect(taken).toBe(given + lengthOf(links.end()));
});
