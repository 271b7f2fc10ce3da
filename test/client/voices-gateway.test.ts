import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { png } from '../sandbox-media/media-files.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

/** Rendering media takes seconds, and other tests share the cores. */
const patience = 120_000;

let gateway: TestGateway;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  gateway = await startTestGateway({ callbacks: { allowPrivate: true, secret: undefined } });
  env = { UNIGATE_BASE_URL: gateway.url, UNIGATE_API_KEY: gateway.key };
  folder = await mkdtemp(join(tmpdir(), 'unigate-voices-'));
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

/** Runs a command that must succeed. Returns the printed lines. */
async function run(...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await runCommand(args, { env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout.toString().trimEnd().split('\n');
}

async function speak(model: string, voice: string, name: string): Promise<void> {
  const path = join(folder, name);
  const text =
    'This is the recording of a voice. It lasts some seconds, so that there is enough of it to hear.';
  await run('speak', text, '--model', model, '--voice', voice, '-o', path);
  expect((await readFile(path)).toString('latin1', 0, 4)).toBe('RIFF');
}

describe('a custom voice', () => {
  beforeAll(() => speak('alpha3-tts-flash', 'Aria', 'me.wav'));

  test('is cloned from a file, listed, used and deleted', { timeout: patience }, async () => {
    const [id = ''] = await run('voices', 'clone', join(folder, 'me.wav'));
    expect(await run('voices', 'list')).toEqual([
      expect.stringMatching(new RegExp(`^${id} +alpha3-tts-vc-2026-01-22 +OK `)),
    ]);
    await speak('alpha3-tts-vc-2026-01-22', id, 'mine.wav');
    await run('voices', 'delete', id);
    expect(await run('voices', 'list')).toEqual(['']);
  });

  test('is cloned from a URL for a voxa model', { timeout: patience }, async () => {
    const recording = await readFile(join(folder, 'me.wav'));
    const url = await startStubServer((_, response) => void response.end(recording));
    const [id = ''] = await run('voices', 'clone', `${url}/me.wav`, '--model', 'voxa-v3-flash');
    expect(await run('voices', 'list', '--model', 'voxa-v3-flash')).toEqual([
      expect.stringMatching(new RegExp(`^${id} +voxa-v3-flash +OK `)),
    ]);
    await speak('voxa-v3-flash', id, 'mine.wav');
    await run('voices', 'delete', id);
  });

  test.each(['alpha3-tts-vd-2026-01-26', 'voxa-v3-flash'])(
    'designed for %s, with a preview',
    async (model) => {
      const path = join(folder, 'preview.wav');
      const [id = ''] = await run('voices', 'design', 'A calm low voice.', '--model', model, '-o', path);
      expect((await readFile(path)).toString('latin1', 0, 4)).toBe('RIFF');
      await speak(model, id, 'designed.wav');
      await run('voices', 'delete', id);
    },
  );
});

test('an asset is uploaded and shown', { timeout: patience }, async () => {
  const url = await startStubServer((_, response) => void response.end(png(400, 300)));
  const [reference = ''] = await run('assets', 'upload', `${url}/cat.png`, '--name', 'cat');
  expect(reference).toMatch(/^asset:\/\/asset-\d+-\w+$/);
  const shown = await run('assets', 'show', reference);
  expect(shown).toEqual(expect.arrayContaining(['type     Image', 'status   Active', 'name     cat']));
});
