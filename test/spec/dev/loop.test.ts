import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLoop, type Loop } from '../../../openapi/dev/loop.ts';
import { problemLine } from '../../../openapi/tools/problem.ts';
import { operation, type SmallContract, smallContract, song } from './small-contract.ts';

let contract: SmallContract;
let loop: Loop;

beforeAll(async () => {
  contract = await smallContract();
  loop = await createLoop(contract.root);
  const first = await loop.run([], () => false);
  const rest = await loop.checkRest(new AbortController().signal);
  expect([first?.problems, rest.problems]).toEqual([[], []]);
  expect(first?.written).toContain('http.ts');
});
afterAll(async () => {
  await loop.close();
  await contract.remove();
});

const save = async (path: string, text: string) => {
  await contract.write(path, text);
  const result = await loop.run([path], () => false);
  if (result === undefined) throw new Error('The run was superseded.');
  return { ...result, lines: result.problems.map(problemLine) };
};
const generated = (name: string) => readFile(join(contract.root, 'generated', name), 'utf8');

test('a changed description is reported and written without type checks', async () => {
  const { changes, written, lines, checked } = await save(
    'openapi/paths/song.yaml',
    operation('Another song.'),
  );
  expect(changes).toEqual(['operation getSong: summary "A song." -> "Another song."']);
  expect(written).toEqual([
    'http.ts',
    'openapi-3.0.json',
    'openapi-clients.json',
    'openapi.json',
    'operations.ts',
  ]);
  expect(await generated('openapi.json')).toContain('Another song.');
  expect(lines).toEqual([]);
  expect(checked).toBe(1);
});

test('a schema that contradicts the code is reported at the line of the code', async () => {
  const broken = await save('openapi/schemas/music/Song.yaml', song('integer'));
  expect(broken.changes).toEqual(['schema Song: properties.title.type "string" -> "integer"']);
  expect(broken.lines).toEqual([
    "server/title.ts:3:71 error TS2322: Type 'number' is not assignable to type 'string'.",
  ]);
  const repaired = await save('openapi/schemas/music/Song.yaml', song('string'));
  expect(repaired.lines).toEqual([]);
});

test('a save that breaks clients is reported with its operations and version, and its undo is not', async () => {
  const compatibility = async (type: string) => {
    await save('openapi/schemas/music/Song.yaml', song(type));
    return loop.checkCompatibility(new AbortController().signal);
  };
  expect(await compatibility('integer')).toEqual([
    '  breaks clients since the start: 1 change; needs version 2.0.0 or later (1.0.0 before)',
    "    openapi/schemas/music/Song.yaml:6 Type of `title` widened from 'string' to 'integer'. Affects getSong, sendSongs.",
  ]);
  expect(await loop.checkCompatibility(new AbortController().signal)).toEqual([]);
  expect((await compatibility('string'))[0]).toMatch(
    /^ {2}OK: (breaks no client|the contract has not changed) since the start/,
  );
});

test('an interrupted comparison is repeated', async () => {
  const signal = new AbortController().signal;
  await save('openapi/schemas/music/Song.yaml', song('integer'));
  expect(await loop.checkCompatibility(AbortSignal.abort())).toEqual([]);
  expect((await loop.checkCompatibility(signal))[0]).toMatch(/breaks clients/);
  await save('openapi/schemas/music/Song.yaml', song('string'));
  await loop.checkCompatibility(signal);
});

test('a broken reference of the AsyncAPI document is reported at its line, with its target', async () => {
  const file = join(contract.root, 'asyncapi/asyncapi.yaml');
  const before = await readFile(file, 'utf8');
  const missing = await save('asyncapi/asyncapi.yaml', before.replace('/messages/sung', '/messages/sang'));
  expect(missing.lines).toEqual([
    expect.stringMatching(
      /^asyncapi\/asyncapi\.yaml:5:\d+ error no-unresolved-refs: Can't resolve \$ref #\/components\/messages\/sang/,
    ),
  ]);
  expect((await save('asyncapi/asyncapi.yaml', before)).lines).toEqual([]);
});

test('a stream that names a missing channel is reported at its line, with the channels', async () => {
  const stream = 'text/event-stream: { schema: { type: string }, x-events: asyncapi.json#/channels/sung }';
  const text = operation('Another song.').replace('content: {', `content: {\n        ${stream},`);
  expect((await save('openapi/paths/song.yaml', text)).lines).toEqual([
    'openapi/paths/song.yaml:9:56 error stream-channel: The channel asyncapi.json#/channels/sung does not exist. The channels are songs.',
  ]);
  await save('openapi/paths/song.yaml', operation('Another song.'));
});

test('invalid YAML is reported with its location and keeps the generated files', async () => {
  const before = await generated('openapi.json');
  const { lines, written } = await save(
    'openapi/paths/song.yaml',
    'get:\n  operationId: [getSong\n  tags: [music]\n',
  );
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^openapi\/paths\/song\.yaml:3:\d+ error no-unresolved-refs: Failed to parse/);
  expect(written).toEqual([]);
  expect(await generated('openapi.json')).toBe(before);
  expect((await save('openapi/paths/song.yaml', operation('Another song.'))).lines).toEqual([]);
});

test('a lint problem is reported with its location', async () => {
  const { lines } = await save('openapi/paths/song.yaml', operation('A song.', 'Song'));
  expect(lines).toEqual([
    expect.stringMatching(/^openapi\/paths\/song\.yaml:3:16 error unigate\/operation-id-form: /),
  ]);
  await save('openapi/paths/song.yaml', operation('Another song.'));
});

test('a mistake in errors.yaml is reported with its line', async () => {
  const file = join(contract.root, 'openapi/errors.yaml');
  const before = await readFile(file, 'utf8');
  const { lines } = await save('openapi/errors.yaml', `${before}${before.replace('never', 'perhaps')}`);
  expect(lines).toEqual([
    expect.stringMatching(
      /^openapi\/errors\.yaml:2:\d+ error: \/1\/retry must be equal .*: "never", "now", "later"/,
    ),
  ]);
  expect((await save('openapi/errors.yaml', before)).lines).toEqual([]);
});

test('a deleted file is reported at its reference until it is restored', async () => {
  await rm(join(contract.root, 'openapi/paths/song.yaml'));
  const deleted = await loop.run(['openapi/paths/song.yaml'], () => false);
  expect(deleted?.problems.map(problemLine)[0]).toMatch(
    /^openapi\/openapi\.yaml:7:\d+ error no-unresolved-refs: /,
  );
  const restored = await save('openapi/paths/song.yaml', operation('Another song.'));
  expect(restored.lines).toEqual([]);
});

test('a superseded run returns nothing, and the next run reports both changes', async () => {
  await contract.write('openapi/paths/song.yaml', operation('Yet another song.'));
  expect(await loop.run(['openapi/paths/song.yaml'], () => true)).toBeUndefined();
  const { changes, written } = await save('openapi/guides/1-start.md', '# Start\n\nBegin elsewhere.\n');
  expect(changes).toEqual(['operation getSong: summary "Another song." -> "Yet another song."']);
  expect(written).toContain('openapi.json');
});

test('saved code and its dependents are type-checked', async () => {
  await contract.write(
    'server/shout.ts',
    `import { title } from './title.ts';\n\nexport const shout: string = title({ title: 'a' });\n`,
  );
  expect((await loop.run(['server/shout.ts'], () => false))?.problems).toEqual([]);
  const wrong = `export const title = (song: object): number => Object.keys(song).length;\n`;
  const { lines } = await save('server/title.ts', wrong);
  expect(lines).toEqual([expect.stringMatching(/^server\/shout\.ts:3:14 error TS2322: /)]);
});
