import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { printTable } from '../../client/commands/terminal.ts';

/** Prints to a terminal with this number of columns, or to a file. */
function printed(rows: string[][], { columns, json }: { columns?: number; json?: boolean } = {}): string {
  let text = '';
  const stdout = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString();
      done();
    },
  });
  const terminal = { stdout: Object.assign(stdout, { isTTY: columns !== undefined, columns }) };
  printTable(terminal, { json }, rows, rows);
  return text;
}

describe('a table', () => {
  test('aligns columns for all scripts', () => {
    expect(
      printed([
        ['name', 'id'],
        ['日本', '1'],
        ['👩‍🚀', '2'],
        ['e\u0301t', '3'],
      ]),
    ).toBe('name  id\n日本  1\n👩‍🚀    2\ne\u0301t    3\n');
  });

  test.each([
    ['a\x1b[2Jb', 'a\\u001b[2Jb'],
    ['a\x9b2Jb', 'a\\u009b2Jb'],
    ['two\nlines\r\t', 'two\\u000alines\\u000d\\u0009'],
    ['\u202egpj.exe', '\\u202egpj.exe'],
    ['a\u2028b\u200bc\ufeff', 'a\\u2028b\\u200bc\\ufeff'],
    ['half \ud83d', 'half \\ud83d'],
  ])('escapes %j', (name, shown) => {
    expect(printed([[name, '1']])).toBe(`${shown}  1\n`);
  });

  test('truncates the widest columns on a narrow terminal', () => {
    const rows = [['7', 'a very long name indeed', 'enabled']];
    expect(printed(rows, { columns: 24 })).toBe('7  a very long…  enabled\n');
    expect(printed(rows)).toBe('7  a very long name indeed  enabled\n');
    expect(printed([['日本日本日本日本']], { columns: 12 })).toBe('日本日本日…\n');
    expect(printed([['long enough', 'long enough']], { columns: 3 })).toBe('long en…  long en…\n');
  });
});

test('JSON contains the same texts without control characters', () => {
  const rows = [['a\x9b2J\u202e\x1b\x7f\n', '日本']];
  const text = printed(rows, { json: true });
  expect(JSON.parse(text)).toEqual(rows);
  // oxlint-disable-next-line eslint/no-control-regex
  expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  expect(text).toContain('日本');
});
