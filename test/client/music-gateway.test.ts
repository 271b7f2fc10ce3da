import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NotFoundError, TaskFailedError, Unigate } from '../../client/index.ts';
import { compiled } from '../support/child-node.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { runCommand } from './terminal.ts';

let gateway: TestGateway;
let client: Unigate;
let env: Record<string, string>;
let folder: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  client = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key });
  env = { ...compiled, UNIGATE_BASE_URL: gateway.url, UNIGATE_API_KEY: gateway.key };
  folder = await mkdtemp(join(tmpdir(), 'unigate-music-'));
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

const often = { pollIntervalMs: 100 };
const prompt = 'A slow song about the sea';
/** Rendering a song takes seconds, and other tests share the cores. */
const patience = 120_000;

/** Metadata that a player shows. */
async function factsOf(path: string) {
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(await readFile(path)) });
  const { title, images } = await input.getMetadataTags();
  return { title, pictures: images?.map(({ mimeType }) => mimeType), seconds: await input.computeDuration() };
}

test('one command writes a song with its title and a cover', { timeout: patience }, async () => {
  const path = join(folder, 'song.mp3');
  const args = ['music', prompt, '--title', 'Low tide', '--both', '-o', path];
  const { code, stderr } = await runCommand(args, { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^task \w+\n$/) });
  for (const name of ['song-1.mp3', 'song-2.mp3']) {
    const { title, pictures, seconds } = await factsOf(join(folder, name));
    expect({ title, pictures }).toEqual({ title: 'Low tide', pictures: [expect.stringMatching(/^image\//)] });
    expect(seconds).toBeGreaterThan(1);
  }

  // Downloads the same task as WAV.
  const id = stderr.trim().replace('task ', '');
  const again = ['music', '--resume', id, '-o', join(folder, 'song.wav')];
  expect(await runCommand(again, { env })).toMatchObject({ code: 0, stderr: '' });
  expect((await readFile(join(folder, 'song.wav'))).toString('latin1', 0, 4)).toBe('RIFF');
});

test('lyrics are written, sung and timed', { timeout: patience }, async () => {
  const written = join(folder, 'words.txt');
  expect(await runCommand(['lyrics', 'A lullaby for a lighthouse', '-o', written], { env })).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^task \w+\ntitle .+\n$/),
  });
  const lyrics = await readFile(written, 'utf8');
  expect(lyrics.length).toBeGreaterThan(20);

  const reported: string[] = [];
  const songs = await client.music.createAndWait(
    { mv: 'chirp-hawk', custom_mode: 1, prompt: '[Verse]\nThe water leaves the shore', tags: 'folk' },
    { ...often, onProgress: ({ status }) => reported.push(status) },
  );
  expect(reported.at(-1)).toBe('SUCCESS');
  expect(songs).toHaveLength(2);
  const id = songs[0]?.id ?? '';
  const { aligned_words } = await client.music.timing(id);
  expect(aligned_words.map(({ word }) => word.trim().toLowerCase()).join(' ')).toContain('water');
  expect(await client.music.songs(songs.map((song) => song.id))).toHaveLength(2);
  await client.music.downloadTo(id, join(folder, 'cover'), { variant: 'cover' });
  expect((await readFile(join(folder, 'cover'))).length).toBeGreaterThan(1_000);
});

test('the example of the README writes a song and an image', { timeout: patience }, async () => {
  const root = join(import.meta.dirname, '../..');
  const readme = await readFile(join(root, 'client/README.md'), 'utf8');
  const example = [...readme.matchAll(/```ts\n(.*?)```/gs)].find(([, code]) =>
    code?.includes('music.createAndWait('),
  );
  const program = example?.[1]?.replace('@unigate/client', join(root, 'client/index.ts')) ?? '';
  await writeFile(join(folder, 'script.ts'), program);
  await promisify(execFile)(process.execPath, ['script.ts'], { cwd: folder, env });
  expect((await factsOf(join(folder, 'song.mp3'))).pictures).toHaveLength(1);
  expect((await readFile(join(folder, 'harbour.png'))).toString('latin1', 1, 4)).toBe('PNG');
});

test('a failed song and an unknown song', async () => {
  const wait = client.music.createAndWait({ prompt: `${prompt} [[fail-late]]` }, often);
  await expect(wait).rejects.toMatchObject({ constructor: TaskFailedError, code: 'FAILURE' });
  await expect(client.music.waitFor('task_none', often)).rejects.toBeInstanceOf(NotFoundError);
  await expect(client.music.download('clip-none')).rejects.toBeInstanceOf(NotFoundError);
});
