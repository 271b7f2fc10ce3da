import { expect, test } from 'vitest';
import { JsonScanner } from '../../server/media/json-scanner.ts';

/** Strings of a text and the bytes outside of them, read in chunks of `size` bytes. */
function scan(text: string, size: number) {
  const scanner = new JsonScanner();
  const bytes = Buffer.from(text);
  const strings: string[] = [];
  let [current, outside] = ['', ''];
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = bytes.subarray(at, at + size);
    let covered = 0;
    for (const { isString, from, to, isEnd } of scanner.runs(chunk)) {
      expect(from).toBe(covered);
      covered = to;
      const run = chunk.toString('latin1', from, to);
      if (!isString) outside += run;
      else current += run;
      if (!isEnd) continue;
      strings.push(current);
      current = '';
    }
    expect(covered).toBe(chunk.length);
  }
  return { strings, outside, open: current };
}

const long = 'x'.repeat(200);
test.each<[title: string, text: string, strings: string[], outside: string, open?: string]>([
  ['fields and values', '{"a":"b","c":[1,"d"]}', ['a', 'b', 'c', 'd'], '{"":"","":[1,""]}'],
  ['empty strings', '["",""]', ['', ''], '["",""]'],
  [
    'escapes',
    String.raw`["\"","\\","\u0022\\\"","a\\"]`,
    [String.raw`\"`, String.raw`\\`, String.raw`\u0022\\\"`, String.raw`a\\`],
    '["","","",""]',
  ],
  ['long strings', `["${long}","${long}\\"${long}\\\\"]`, [long, `${long}\\"${long}\\\\`], '["",""]'],
  ['a quote in a comment', ': 5" long\ndata:{"a":1}\r', [' long', 'a'], ': 5"\ndata:{"":1}\r'],
  ['a long line after a quote', `: "${long}\r\n"a"`, [long, 'a'], ': "\r\n""'],
  ['an open string', '{"a":"b', ['a'], '{"":"', 'b'],
  ['an open escape', '["a\\', [], '["', 'a\\'],
])('separates %s with any chunk size', (_title, text, strings, outside, open = '') => {
  for (let size = 1; size <= text.length; size += 1)
    expect(scan(text, size), `${size}`).toEqual({ strings, outside, open });
});
