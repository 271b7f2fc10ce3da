import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonReader } from '../../server/http/json-reader.ts';
import { Failure } from '../../server/lib/failure.ts';

const megabyte = 1024 * 1024;
const limits = { bytes: 64 * megabyte, textBytes: megabyte };

/** Reads a body that comes in pieces of so many bytes, over and over. */
async function read(
  body: string | Buffer,
  sizes: readonly number[] = [65_536],
  { textBytes } = limits,
  // Small bodies are not read in pieces unless they are asked to be.
  whole = 0,
) {
  const bytes = Buffer.from(body as string);
  const reader = new JsonReader({ ...limits, textBytes }, whole);
  let index = 0;
  for (let from = 0; from < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    reader.push(bytes.subarray(from, from + size));
    from += size;
  }
  return (await reader.end()).value;
}

const refusal = (body: string | Buffer, sizes?: readonly number[], own = limits, whole?: number) =>
  read(body, sizes, own, whole).then(
    () => 'taken',
    (error: unknown) => (error instanceof Failure ? `${error.status} ${error.message}` : String(error)),
  );

const base64 = (length: number) => 'QUJDRA+/'.repeat(length / 8);

describe('a body in pieces', () => {
  const image = `data:image/png;base64,${base64(4096)}==`;
  test.each<[string, string]>([
    ['a data URL', JSON.stringify({ url: image, after: [1, 'x'] })],
    ['a data URL whose slashes are escaped', JSON.stringify({ url: image }).replaceAll('/', '\\/')],
    ['plain Base64', JSON.stringify([base64(8192), base64(256), base64(248)])],
    ['several', JSON.stringify({ a: image, b: { c: [image, `${image}A`, 'data:', ''] } })],
    ['a text that begins like one and has an escape', JSON.stringify({ a: `${image}\n"\\${image}` })],
    ['a text that begins like one and has other characters', JSON.stringify({ a: `${image}안😀${image}` })],
    ['a text that ends in a backslash', JSON.stringify({ a: `${image}\\`, b: `${image}\\\\` })],
    ['a text of 255 characters and one of 256', JSON.stringify(['A'.repeat(255), 'A'.repeat(256)])],
    ['an upper-case head', JSON.stringify([image.replace('data', 'DATA')])],
    ['long names', JSON.stringify({ ['a b'.repeat(500)]: image, [`${image} x\t`]: 1 })],
    ['no medium at all', '{"a":[],"b":{},"c":[[{}]],"d":"\\u0041\\"","e":1e3,"f":null}'],
    ['a medium alone', JSON.stringify(image)],
  ])('%s is what JSON.parse makes of it', async (_, body) => {
    for (const sizes of [[1], [2], [3, 1], [255], [256], [257], [1000, 7], [1e9]])
      expect(await read(body, sizes), `pieces of ${sizes.join()}`).toEqual(JSON.parse(body));
    expect(await read(body, [1000], limits, 48 * 1024), 'as a whole').toEqual(JSON.parse(body));
  });

  test('whatever it holds, and however it is cut', async () => {
    const medium = fc
      .tuple(fc.constantFrom('', 'data:image/png;base64,', 'data:x\\/y,'), fc.integer({ min: 0, max: 600 }))
      .map(([head, length]) => `${head}${'+/Az'.repeat(length / 4)}`);
    const text = fc.oneof(
      medium,
      fc.tuple(medium, fc.string({ unit: 'binary' })).map((both) => both.join('')),
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.array(text),
      fc.dictionary(fc.string(), fc.oneof(text, fc.array(text))),
    );
    const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(value, sizes, fc.boolean(), async (one, cut, escaped) => {
        const json = escaped ? JSON.stringify(one).replaceAll('/', '\\/') : JSON.stringify(one);
        // A lone surrogate is not valid UTF-8.
        fc.pre(json.isWellFormed());
        expect(await read(json, cut)).toEqual(JSON.parse(json));
      }),
      { seed: 8, numRuns: 200 },
    );
  });

  test('a line break in a medium is no JSON, as in any text', async () => {
    expect(await refusal(`{"a":"${image}\n${image}"}`)).toMatch(/^400 body: is not valid JSON/);
    expect(await refusal(`{"a":"${image}\0"}`, [100])).toMatch(/^400 body: is not valid JSON/);
  });

  test('a medium that does not end is no JSON', async () => {
    expect(await refusal(`{"a":"${image}`)).toMatch(/^400 body: is not valid JSON/);
    expect(await refusal(`{"a":"${image}\\`)).toMatch(/^400 body: is not valid JSON/);
  });

  test('what is not UTF-8 is refused, inside of what begins like a medium too', async () => {
    const broken = (head: string) =>
      Buffer.concat([Buffer.from(`["${head}`), Buffer.from([0xff]), Buffer.from('"]')]);
    expect(await refusal(broken(''))).toBe('400 body: is not valid UTF-8.');
    expect(await refusal(broken(image), [300])).toBe('400 body: is not valid UTF-8.');
  });

  test('a medium is no name of a field', async () => {
    const named = `[{"a":{"${image}":1}}]`;
    for (const whole of [0, 48 * 1024])
      expect(await refusal(named, [999], limits, whole)).toBe(
        '400 body: has a field whose name is an inline medium.',
      );
  });
});

describe('limits of a body', () => {
  const items = (count: number) => `[${Array(count).fill('0').join()}]`;
  const own = { ...limits, textBytes: 1000 };

  test('values and names are counted, not brackets or what stands in texts', async () => {
    const most = 50_000;
    expect(await refusal(items(most - 1))).toBe('taken');
    expect(await refusal(items(most))).toBe(`400 body: has more than ${most} values and names of fields.`);
    // The list, and for each field a name, a list and nothing in it.
    const lists = (count: number) =>
      `{${Array.from({ length: count }, (_, index) => `"${index}" : [ ]`).join()}}`;
    expect(await refusal(lists((most - 2) / 2), [999])).toBe('taken');
    expect(await refusal(lists(most / 2), [999])).toMatch(/more than 50000 values/);
    expect(await refusal(JSON.stringify(['[{,:'.repeat(most)]))).toBe('taken');
  });

  test('they are refused before their end, whatever follows', () => {
    const reader = new JsonReader(limits);
    expect(() => reader.push(Buffer.from(`[${'[],'.repeat(60_000)}`))).toThrow('more than 50000 values');
  });

  test('media do not count as text, whatever else does', async () => {
    const message = `413 body: is larger than ${1000 / megabyte} MB beside inline media, the limit of this route.`;
    const image = `data:image/png;base64,${base64(80_000)}`;
    expect(await refusal(JSON.stringify([image, base64(80_000)]), [1000], own)).toBe('taken');
    expect(await refusal(JSON.stringify(['a b'.repeat(400)]), [50], own)).toBe(message);
    expect(await refusal(JSON.stringify([`${image}\n`]), [1000], own)).toBe(message);
    expect(await refusal(`["a"${' '.repeat(1000)}]`, [50], own)).toBe(message);
    expect(await refusal(`["a"${' '.repeat(995)}]`, [50], own)).toBe('taken');
  });
});
