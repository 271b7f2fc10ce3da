import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type DefinitionFlags, definitions } from '../../../openapi/tools/new/definitions.ts';
import { outputs } from '../../../openapi/tools/outputs.ts';
import { SpecProblems } from '../../../openapi/tools/problem.ts';
import { copyOfCheckout, repository } from './checkout.ts';

// The tests lint and generate a copy of the checkout.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

let copy: Awaited<ReturnType<typeof copyOfCheckout>>;
beforeAll(async () => {
  copy = await copyOfCheckout();
});
afterAll(() => copy.remove());

const runNew = (...args: string[]) =>
  new Promise<{ failed: boolean; output: string }>((resolve) => {
    const main = join(repository, 'openapi/tools/new/main.ts');
    execFile(process.execPath, [main, '--root', copy.root, ...args], (error, stdout, stderr) =>
      resolve({ failed: error !== null, output: stdout + stderr }),
    );
  });
const files = ['asyncapi/asyncapi.yaml', 'openapi/errors.yaml', 'openapi/models.yaml'];
const texts = () => Promise.all(files.map((file) => readFile(join(copy.root, file), 'utf8')));

test.each<[kind: string, name: string, flags: DefinitionFlags, message: string]>([
  ['schema', 'song', { area: 'music' }, '"song" must be in UpperCamelCase'],
  ['schema', 'SongDraft', { area: 'songs' }, '--area "songs" must be one of'],
  ['schema', 'MusicTask', { area: 'video' }, 'openapi/schemas/music/MusicTask.yaml already exists'],
  ['error', 'song-lost', { families: 'task' }, '"song-lost" must consist of'],
  ['error', 'model_not_found', { families: 'task' }, 'error code model_not_found already exists'],
  [
    'error',
    'song_lost',
    { families: 'generic,songs' },
    '--families "generic,songs" must be one or several of',
  ],
  ['error', 'song_lost', { families: 'task', retry: 'soon' }, '--retry "soon" must be one of'],
  ['error', 'song_lost', { families: 'task', status: '200' }, '--status "200" must be between 400 and 599'],
  ['model', 'alpha9-tts', { family: 'alpha9' }, '--family "alpha9" must be one of'],
  ['model', 'Alpha', { family: 'alpha3' }, '"Alpha" must consist of'],
  ['model', 'alpha3-tts-flash', { family: 'alpha3' }, 'model alpha3-tts-flash already exists'],
  ['event', 'SessionCreated', { channel: 'realtime' }, 'message SessionCreated already exists'],
  ['event', 'SessionPaused', { channel: 'songs' }, '--channel "songs" must be one of realtime, inference'],
  ['event', 'SessionPaused', { channel: 'realtime', action: 'emit' }, '--action "emit" must be send'],
  ['event', 'SessionPaused', { channel: 'realtime', type: 'Paused' }, '--type "Paused" must have the form'],
])('%s %s %j is rejected', (kind, name, flags, message) => {
  expect(() => definitions[kind]?.(repository, name, flags)).toThrow(message);
});

test('an event, an error and a model pass the lint, and are undone in reverse order', async () => {
  const before = await texts();
  const commands = [
    'event SessionPaused --channel realtime --type session.paused',
    'event SessionPause --channel realtime --type session.pause --action receive',
    'error song_lost --families generic,task --status 404',
    'model alpha3-tts-new --family alpha3',
  ];
  for (const command of commands) {
    const { failed, output } = await runNew(...command.split(' '));
    expect(failed, output).toBe(false);
  }
  const made = await outputs(copy.root);
  expect(made.get('events.ts')).toContain('"session.paused"');
  const { operations } = JSON.parse(made.get('asyncapi.json') ?? '') as {
    operations: Record<string, { messages?: { $ref: string }[] }>;
  };
  const messagesOf = (name: string) => operations[name]?.messages?.map(({ $ref }) => $ref);
  expect(messagesOf('sendRealtimeEvents')).toContain('#/channels/realtime/messages/SessionPaused');
  expect(messagesOf('sendRealtimeAliasEvents')).toContain('#/channels/realtimeAlias/messages/SessionPaused');
  expect(messagesOf('receiveRealtimeEvents')).toContain('#/channels/realtime/messages/SessionPause');
  expect(made.get('errors.ts')).toContain('song_lost');
  expect(made.get('catalogue.ts')).toContain('alpha3-tts-new');

  for (const _ of commands) {
    const { failed, output } = await runNew('--undo');
    expect(failed, output).toBe(false);
  }
  expect(await texts()).toEqual(before);
  expect(await runNew('--undo')).toEqual({ failed: true, output: 'there is no run to undo\n' });
});

test('a schema lacks only a reference', async () => {
  expect(await runNew('schema', 'SongDraft', '--area', 'music')).toMatchObject({ failed: false });
  const error = await outputs(copy.root).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SpecProblems);
  expect((error as SpecProblems).problems).toEqual([
    expect.objectContaining({
      rule: 'unigate/no-orphan-file',
      message: expect.stringContaining('SongDraft'),
    }),
  ]);
  expect(await runNew('--undo')).toMatchObject({ failed: false });
});

test('nothing is undone after an edit', async () => {
  const file = 'openapi/schemas/music/SongDraft.yaml';
  await runNew('schema', 'SongDraft', '--area', 'music');
  await writeFile(join(copy.root, file), 'type: object\n');
  expect(await runNew('--undo')).toEqual({
    failed: true,
    output: `${file} was edited since then; nothing was undone\n`,
  });
  expect(await readFile(join(copy.root, file), 'utf8')).toBe('type: object\n');
});
