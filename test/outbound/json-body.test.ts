import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { holdsLongText, jsonPieces, jsonStream } from '../../server/outbound/json-body.ts';

const megabyte = 1024 * 1024;
const long = 'QUJD'.repeat(megabyte / 4 + 1);
const slice = 256 * 1024;

describe('JSON with long texts', () => {
  test.each<[string, unknown]>([
    ['alone', long],
    ['in a list', [long, 1, [long, 'x', long]]],
    ['in objects', { a: long, b: { c: `${long}"\n`, d: null, e: undefined, f: [undefined] } }],
    ['of other characters', { a: '한😀"\\\n'.repeat(megabyte / 4) }],
    ['with a half of a character', { a: `${'x'.repeat(megabyte)}\ud800` }],
    ['with a character that is cut in two', { a: `${'x'.repeat(slice - 1)}😀${long}` }],
    ['that are none', { a: ['short', 1, true] }],
    ['that are as long as others may be', { a: 'x'.repeat(megabyte) }],
  ])('%s means the same', async (_, value) => {
    const { stream, length } = await jsonStream(value);
    const written = await buffer(stream);
    expect(written.length).toBe(length);
    expect(JSON.parse(written.toString())).toEqual(JSON.parse(JSON.stringify(value)));
  });

  test('others have their turn while it is written', async () => {
    let turns = 0;
    let running = true;
    const count = () => {
      turns += 1;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    for await (const piece of jsonPieces({ a: long.repeat(16) })) expect(piece.length).toBeLessThan(megabyte);
    running = false;
    expect(turns).toBeGreaterThan(2);
  });

  test('only long texts are worth the trouble', () => {
    expect(holdsLongText({ a: [{ b: 'x'.repeat(megabyte) }, 1, null] })).toBe(false);
    expect(holdsLongText({ a: [{ b: 'x'.repeat(megabyte + 1) }] })).toBe(true);
    expect(holdsLongText(undefined)).toBe(false);
  });
});
