import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { holdsLongText, jsonChunks, jsonStream } from '../../server/outbound/json-body.ts';

const megabyte = 1024 * 1024;
const long = 'QUJD'.repeat(megabyte / 4 + 1);
const slice = 256 * 1024;

describe('JSON with long texts', () => {
  test.each<[string, unknown]>([
    ['alone', long],
    ['in a list', [long, 1, [long, 'x', long]]],
    ['in objects', { a: long, b: { c: `${long}"\n`, d: null, e: undefined, f: [undefined] } }],
    ['of other characters', { a: '한😀"\\\n'.repeat(megabyte / 4) }],
    ['with a lone surrogate', { a: `${'x'.repeat(megabyte)}\ud800` }],
    ['with a surrogate pair cut by a slice', { a: `${'x'.repeat(slice - 1)}😀${long}` }],
    ['that are short', { a: ['short', 1, true] }],
    ['at the limit', { a: 'x'.repeat(megabyte) }],
  ])('%s is parsed to the same value', async (_, value) => {
    const { stream, length } = await jsonStream(value);
    const written = await buffer(stream);
    expect(written.length).toBe(length);
    expect(JSON.parse(written.toString())).toEqual(JSON.parse(JSON.stringify(value)));
  });

  test('yields to the event loop while it is written', async () => {
    let turns = 0;
    let running = true;
    const count = () => {
      turns += 1;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    for await (const chunk of jsonChunks({ a: long.repeat(16) })) expect(chunk.length).toBeLessThan(megabyte);
    running = false;
    expect(turns).toBeGreaterThan(2);
  });

  test('detects only texts above the limit', () => {
    expect(holdsLongText({ a: [{ b: 'x'.repeat(megabyte) }, 1, null] })).toBe(false);
    expect(holdsLongText({ a: [{ b: 'x'.repeat(megabyte + 1) }] })).toBe(true);
    expect(holdsLongText(undefined)).toBe(false);
  });
});
