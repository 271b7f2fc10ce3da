import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createLoop } from '../../../openapi/dev/loop.ts';
import { clientTest } from '../../../openapi/tools/new/client-method.ts';
import { readContract } from '../../../openapi/tools/new/existing-contract.ts';
import { type Flags, validate } from '../../../openapi/tools/new/new-operation.ts';
import { problemLine } from '../../../openapi/tools/problem.ts';
import { copyOfCheckout, repository } from './checkout.ts';

// The tests lint, generate, type-check and test a copy of the checkout.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

let copy: Awaited<ReturnType<typeof copyOfCheckout>>;
beforeAll(async () => {
  copy = await copyOfCheckout();
});
afterAll(() => copy.remove());

interface CommandResult {
  code: number;
  output: string;
}

const run = (file: string, args: readonly string[], cwd: string): Promise<CommandResult> =>
  new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: '1', VITEST_POOL_ID: undefined, VITEST_WORKER_ID: undefined };
    execFile(
      process.execPath,
      [file, ...args],
      { cwd, env, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
const runNew = (...args: string[]) =>
  run(join(repository, 'openapi/tools/new/main.ts'), ['--root', copy.root, ...args], copy.root);
const createOperation = (line: string) => runNew('operation', ...line.split(' '));
const readCreated = (path: string) => readFile(join(copy.root, path), 'utf8');

test.each<[flags: Flags, message: string]>([
  [{ id: 'songs' }, '"songs" must be a verb and a noun'],
  [{ id: 'createSpeech' }, 'operation createSpeech already exists'],
  [{ area: 'songs' }, '--area "songs" must be one of speech, '],
  [{ area: 'realtime' }, '--area realtime contains sockets only'],
  [{ method: 'fetch' }, '--method "fetch" must be one of get, '],
  [{ path: 'v1/songs' }, '--path "v1/songs" must have the form'],
  [{ path: '/api/admin/songs' }, '--area admin requires a --path below /api/admin/'],
  [
    { path: '/v1/videos/{id}' },
    'exists: add the method to /v1/videos/{task_id} in openapi/paths/video/video.yaml',
  ],
  [{ path: '/v1/songs/{song}' }, '{song}: add a file for it to openapi/parameters first'],
  [{ path: '/v1/songs/{id}' }, 'select one of AdminTaskId, '],
  [{ path: '/v1/songs/{id}', parameters: 'SongId' }, 'SongId is not a file'],
  [{ summary: 'songs' }, '--summary must be one sentence'],
])('%j is rejected', (flags, message) => {
  const valid: Flags = { id: 'listSongs', method: 'get', path: '/v1/songs', area: 'music' };
  const now = readContract(repository);
  expect(validate(repository, valid, now)).toMatchObject({ ...valid, family: 'generic' });
  expect(() => validate(repository, { ...valid, ...flags }, now)).toThrow(message);
});

test('an unknown flag is rejected', async () => {
  expect(await runNew('operation', 'listSongs', '--force')).toMatchObject({
    code: 1,
    output: expect.stringContaining("Unknown option '--force'"),
  });
});

test('the kind of object is required', async () => {
  expect(await runNew('song')).toMatchObject({
    code: 1,
    output: expect.stringContaining('npm run new -- operation'),
  });
});

test('a new operation is registered, passes all checks, and fails its own test', async () => {
  const index = await readCreated('openapi/openapi.yaml');
  const listed = await createOperation('listSongs --method get --path /v1/songs --area music');
  expect(listed, listed.output).toMatchObject({ code: 0 });
  // These six are written by hand. All other files are complete.
  const [, toWrite = ''] = /in this order:\n(.*)\nAll other files are complete/s.exec(listed.output) ?? [];
  expect(toWrite.split('\n')).toEqual([
    '  openapi/paths/music/list-songs.yaml',
    '  openapi/schemas/music/ListSongsReply.yaml',
    '  test/contract/music/listSongs.test.ts',
    '  server/operations/music/listSongs.ts',
    '  client/music.ts: the method listSongs',
    '  openapi/guides/: a line in a guide',
  ]);
  const changedFiles = listed.output.match(/(?<=^changed ).*$/gm) ?? [];
  for (const file of changedFiles.filter((one) => one !== 'client/music.ts'))
    expect(await readCreated(file), file).not.toMatch(/To be written|not implemented/);
  expect(await readCreated('client/README.md')).toContain('| `GET /v1/songs` | `client.music.listSongs()` |');
  const chorus = 'createChorus --method post --path /v1/songs/{clip_id}/choruses --area music';
  expect(await createOperation(chorus)).toMatchObject({ code: 0 });
  const pulse = 'readPulse --method patch --path /api/admin/pulse/{id} --area admin --parameters TokenId';
  expect(await createOperation(pulse)).toMatchObject({ code: 0 });

  const added = [
    '  /v1/songs: { $ref: paths/music/list-songs.yaml }',
    '  /v1/songs/{clip_id}/choruses: { $ref: paths/music/create-chorus.yaml }',
    '  /api/admin/pulse/{id}: { $ref: paths/admin/read-pulse.yaml }',
  ];
  const lines = (await readCreated('openapi/openapi.yaml')).split('\n');
  expect(lines.filter((line) => !added.includes(line)).join('\n')).toBe(index);
  expect(lines.filter((line) => added.includes(line))).toEqual(added);

  const undone = await runNew('--undo');
  expect(undone, undone.output).toMatchObject({
    code: 0,
    output: expect.stringContaining('deleted server/operations/admin/readPulse.ts'),
  });
  expect(await readCreated('openapi/openapi.yaml')).not.toContain('pulse');
  expect(await createOperation(pulse)).toMatchObject({ code: 0 });

  const again = await createOperation('listSongs --method get --path /v1/all-songs --area music');
  expect(again).toMatchObject({ code: 1, output: expect.stringContaining('nothing was written') });

  expect(await readCreated('server/operations/index.ts')).toContain(
    "export { listSongs } from './music/listSongs.ts';",
  );
  expect(await readCreated(clientTest)).toContain(
    "createChorus: (client) => client.music.createChorus('id_1', {}),",
  );
  expect(await readCreated('client/music.ts')).toContain(
    'createChorus(clipId: string, body: Record<string, never>,',
  );
  const saved = ['listSongs', 'createChorus'].flatMap((id) => [
    `server/operations/music/${id}.ts`,
    `test/contract/music/${id}.test.ts`,
  ]);
  const loop = await createLoop(copy.root);
  const result = await loop.run(
    [
      ...saved,
      ...changedFiles.filter((file) => file.endsWith('.ts')),
      'server/operations/admin/readPulse.ts',
      'client/admin/users.ts',
    ],
    () => false,
  );
  await loop.close();
  expect(result?.problems.map(problemLine)).toEqual([]);
  expect(await readCreated('generated/operations.ts')).toContain('createChorus: {');

  const biome = join(repository, 'node_modules/@biomejs/biome/bin/biome');
  const format = await run(
    biome,
    ['check', 'client', 'server/operations', 'test/contract', 'test/spec/statuses.ts', clientTest],
    copy.root,
  );
  expect(format, format.output).toMatchObject({ code: 0 });

  const vitest = join(copy.root, 'node_modules/vitest/vitest.mjs');
  const files = [
    'test/contract/music/listSongs.test.ts',
    'test/contract/music/getClip.test.ts',
    'test/spec/statuses.test.ts',
    clientTest,
  ];
  const output = join(copy.root, 'report.json');
  const reporter = ['--reporter=json', `--outputFile=${output}`];
  await run(vitest, ['run', ...files, '--project', 'contract', '--project', 'unit', ...reporter], copy.root);
  const report = JSON.parse(await readFile(output, 'utf8')) as {
    testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[];
  };
  const failed = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed');
  expect(failed.map(({ fullName }) => fullName).toSorted()).toEqual(['listSongs gateway returns a result']);
  expect(failed.flatMap(({ failureMessages }) => failureMessages).join('\n')).toContain('internal_error');
});
