import { expect, test } from 'vitest';
import { JsonLinks } from '../../server/media/json-links.ts';

const url = 'https://bucket.provider.example/a.wav?signature=9%2Fc&expires=1';
const link = 'http://gateway.example/v1/files/t0k3n/audio.wav';

/** Output for a text in chunks of `size` bytes, and the fields with URLs. */
function forward(text: string, size = text.length || 1) {
  const fields: string[] = [];
  const links = new JsonLinks((found, field) => {
    fields.push(`${field}=${found}`);
    return found === url ? link : found;
  });
  const bytes = Buffer.from(text);
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    out.push(...links.write(chunk).map((part) => Buffer.from(part)));
    // Later chunks may reuse the memory.
    chunk.fill('"');
  }
  out.push(...links.end());
  return { text: Buffer.concat(out).toString('utf8'), fields };
}

const event = (body: string) => `id:1\nevent:result\n:HTTP_STATUS/200\ndata:${body}\n\n`;
const changed: readonly [title: string, text: string][] = [
  ['a URL', `{"url":"${url}"}`],
  ['a URL in a list', `{"outputs":[1,"${url}","x"]}`],
  ['a URL alone', `"${url}"`],
  ['two URLs', `{"a":"${url}","b" : {"c":\t"${url}"}}`],
  ['a URL between audio', `{"data":"${'h'.repeat(30)}","url":"${url}","more":"${'A'.repeat(400)}"}`],
  ['a URL in an event', event(`{"output":{"audio":{"data":"","url":"${url}"}}}`)],
  ['a URL after a comment with a quote', `: it is 5" long\n${event(`{"url":"${url}"}`)}`],
  ['a URL after text with escapes', `{"text":"\\"\\\\\\u00e9 \\\\","url":"${url}"}`],
  ['a URL after non-ASCII text', `{"text":"héllo \u{1f600}","url":"${url}"}`],
];

test.each(changed)('replaces %s with any chunk size', (_title, text) => {
  const expected = text.replaceAll(url, link);
  for (let size = 1; size <= text.length; size += 1)
    expect(forward(text, size).text, `${size}`).toBe(expected);
});

test('replaces escaped URLs', () => {
  const escaped = [
    url.replaceAll('/', '\\/'),
    Array.from(url, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  ];
  for (const written of escaped) {
    for (let size = 1; size <= 40; size += 1)
      expect(forward(`{"url":"${written}"}`, size).text).toBe(`{"url":"${link}"}`);
  }
});

test('finds a URL with an upper-case scheme', () => {
  for (const scheme of ['HTTPS', 'HTTP', 'Https'])
    expect(forward(`{"url":"${scheme}://bucket.provider.example/a.wav"}`).fields).toEqual([
      `url=${scheme}://bucket.provider.example/a.wav`,
    ]);
});

test('forwards all other text unchanged', () => {
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
      expect(forward(text, size).text).toBe(text);
  }
});

test('reports the field of a URL', () => {
  const text = `{"url":"${url}", "other" : [ "${url}", {"deep": "${url}"} ], "${'n'.repeat(80)}":"${url}"}`;
  for (let size = 1; size <= text.length; size += 1) {
    const names = forward(text, size).fields.map((one) => one.split('=', 1)[0]);
    expect(names).toEqual(['url', 'other', 'deep', '']);
  }
});

test('forwards audio at once and holds at maxHeld the length of a URL', () => {
  const links = new JsonLinks((found) => found);
  const lengthOf = (parts: readonly Buffer[]) => parts.reduce((sum, { length }) => sum + length, 0);
  let [written, returned] = [0, 0];
  let maxHeld = 0;
  const write = (text: string) => {
    written += text.length;
    returned += lengthOf(links.write(Buffer.from(text)));
    maxHeld = Math.max(maxHeld, written - returned);
  };
  write('{"data":"AAAA');
  for (let round = 0; round < 100; round += 1) write('A'.repeat(65_536));
  expect(maxHeld).toBe(0);
  write('","more":"h');
  for (let round = 0; round < 2_000; round += 1) write('h'.repeat(100));
  expect(maxHeld).toBeGreaterThan(1_000);
  expect(maxHeld).toBeLessThan(20_000);
  write('"}');
  expect(written).toBe(returned + lengthOf(links.end()));
});
