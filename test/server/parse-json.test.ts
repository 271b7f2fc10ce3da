import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonBody } from '../../server/http/parse-json.ts';
import { Failure } from '../../server/lib/failure.ts';

const megabyte = 1024 * 1024;
const limits = { bytes: 64 * megabyte, textBytes: megabyte };

/** Parses a body that arrives in chunks of these sizes, repeated. */
function read(body: string | Buffer, sizes: readonly number[] = [65_536], { textBytes } = limits) {
  const bytes = Buffer.from(body as string);
  const chunks: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const size = sizes[chunks.length % sizes.length] ?? 1;
    chunks.push(bytes.subarray(from, from + size));
    from += size;
  }
  return parseJsonBody(chunks, { ...limits, textBytes });
}

const outcomeOf = (body: string | Buffer, sizes?: readonly number[], options = limits) => {
  try {
    read(body, sizes, options);
    return 'accepted';
  } catch (error) {
    return error instanceof Failure ? `${error.status} ${error.message}` : String(error);
  }
};

const base64 = (length: number) => 'QUJDRA+/'.repeat(length / 8);

describe('a body in chunks', () => {
  const image = `data:image/png;base64,${base64(4096)}==`;
  test.each<[string, string]>([
    ['a data URL', JSON.stringify({ url: image, after: [1, 'x'] })],
    ['a data URL whose slashes are escaped', JSON.stringify({ url: image }).replaceAll('/', '\\/')],
    ['plain Base64', JSON.stringify([base64(8192), base64(256), base64(248)])],
    ['several media', JSON.stringify({ a: image, b: { c: [image, `${image}A`, 'data:', ''] } })],
    ['a string that starts like a medium and has an escape', JSON.stringify({ a: `${image}\n"\\${image}` })],
    [
      'a string that starts like a medium and has other characters',
      JSON.stringify({ a: `${image}안😀${image}` }),
    ],
    ['a string that ends with a backslash', JSON.stringify({ a: `${image}\\`, b: `${image}\\\\` })],
    ['strings of 255 and 256 characters', JSON.stringify(['A'.repeat(255), 'A'.repeat(256)])],
    ['an upper-case scheme', JSON.stringify([image.replace('data', 'DATA')])],
    ['long names', JSON.stringify({ ['a b'.repeat(500)]: image, [`${image} x\t`]: 1 })],
    ['no medium', '{"a":[],"b":{},"c":[[{}]],"d":"\\u0041\\"","e":1e3,"f":null}'],
    ['a medium alone', JSON.stringify(image)],
  ])('%s equals JSON.parse', (_, body) => {
    for (const sizes of [[1], [2], [3, 1], [255], [256], [257], [1000, 7], [1e9]])
      expect(read(body, sizes), `chunks of ${sizes.join()}`).toEqual(JSON.parse(body));
  });

  test('equals JSON.parse for any value and any chunks', () => {
    const medium = fc
      .tuple(fc.constantFrom('', 'data:image/png;base64,', 'data:x\\/y,'), fc.integer({ min: 0, max: 600 }))
      .map(([head, length]) => `${head}${'+/Az'.repeat(length / 4)}`);
    const text = fc.oneof(
      medium,
      fc.tuple(medium, fc.string({ unit: 'binary' })).map((parts) => parts.join('')),
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.array(text),
      fc.dictionary(fc.string(), fc.oneof(text, fc.array(text))),
    );
    const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 });
    fc.assert(
      fc.property(value, sizes, fc.boolean(), (one, chunkSizes, escaped) => {
        const json = escaped ? JSON.stringify(one).replaceAll('/', '\\/') : JSON.stringify(one);
        // A lone surrogate is not valid UTF-8.
        fc.pre(json.isWellFormed());
        expect(read(json, chunkSizes)).toEqual(JSON.parse(json));
      }),
      { seed: 8, numRuns: 200 },
    );
  });

  test('a line break in a medium is invalid JSON, as in any string', () => {
    expect(outcomeOf(`{"a":"${image}\n${image}"}`)).toMatch(/^400 body: is not valid JSON/);
    expect(outcomeOf(`{"a":"${image}\0"}`, [100])).toMatch(/^400 body: is not valid JSON/);
  });

  test('a medium without an end is invalid JSON', () => {
    expect(outcomeOf(`{"a":"${image}`)).toMatch(/^400 body: is not valid JSON/);
    expect(outcomeOf(`{"a":"${image}\\`)).toMatch(/^400 body: is not valid JSON/);
  });

  test('invalid UTF-8 is refused, also inside a medium', () => {
    const broken = (head: string) =>
      Buffer.concat([Buffer.from(`["${head}`), Buffer.from([0xff]), Buffer.from('"]')]);
    expect(outcomeOf(broken(''))).toBe('400 body: is not valid UTF-8.');
    expect(outcomeOf(broken(image), [300])).toBe('400 body: is not valid UTF-8.');
  });
});

describe('limits of a body', () => {
  const items = (count: number) => `[${Array(count).fill('0').join()}]`;
  const options = { ...limits, textBytes: 1000 };

  test('values and names are counted, not brackets or content of strings', () => {
    const maxValues = 50_000;
    expect(outcomeOf(items(maxValues - 1))).toBe('accepted');
    expect(outcomeOf(items(maxValues))).toBe(
      `400 body: has more than ${maxValues} values and names of fields.`,
    );
    // One list, plus a name and an empty list per field.
    const lists = (count: number) =>
      `{${Array.from({ length: count }, (_, index) => `"${index}" : [ ]`).join()}}`;
    expect(outcomeOf(lists((maxValues - 2) / 2), [999])).toBe('accepted');
    expect(outcomeOf(lists(maxValues / 2), [999])).toMatch(/more than 50000 values/);
    expect(outcomeOf(JSON.stringify(['[{,:'.repeat(maxValues)]))).toBe('accepted');
  });

  test('text in strings does not count as values in a large body', () => {
    const strings = JSON.stringify(Array(1000).fill('a "quoted" [text], with \\ and {braces}: '.repeat(3)));
    expect(strings.length).toBeGreaterThan(100_000);
    expect(outcomeOf(strings)).toBe('accepted');
  });

  test('a body with only nested lists is refused', () => {
    expect(outcomeOf('['.repeat(megabyte))).toBe('400 body: has more than 50000 values and names of fields.');
  });

  test('media do not count as text, everything else does', () => {
    const message = `413 body: is larger than ${1000 / megabyte} MB beside inline media, the limit of this route.`;
    const image = `data:image/png;base64,${base64(80_000)}`;
    expect(outcomeOf(JSON.stringify([image, base64(80_000)]), [1000], options)).toBe('accepted');
    expect(outcomeOf(JSON.stringify(['a b'.repeat(400)]), [50], options)).toBe(message);
    expect(outcomeOf(JSON.stringify([`${image}\n`]), [1000], options)).toBe(message);
    expect(outcomeOf(`["a"${' '.repeat(1000)}]`, [50], options)).toBe(message);
    expect(outcomeOf(`["a"${' '.repeat(995)}]`, [50], options)).toBe('accepted');
  });
});
