import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

const id = 'track_1';
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-music-'));
});
afterEach(() => rm(folder, { recursive: true }));

const song = (clip: string, status = 'complete') => ({
  id: clip,
  status,
  audio_url: `SELF/files/${clip}.mp3`,
});
const lyrics = { id: 'l', status: 'complete', title: 'Low tide', text: '[Verse]\nThe water leaves' };

/** A gateway that creates one task with songs or lyrics. Its files contain their own names. */
async function startTaskServer(data: unknown = [song('a'), song('b')], status = 'SUCCESS') {
  const bodies: Record<string, unknown>[] = [];
  const calls: string[] = [];
  const url = await startStubServer(async (request, response) => {
    const { method, url: path = '' } = request;
    calls.push(`${method} ${path}`);
    const [, , last = '', clip = ''] = path.split('/');
    if (path.startsWith('/files/')) return void response.end(last);
    const text = Buffer.concat(await request.toArray()).toString();
    if (method === 'POST') bodies.push(JSON.parse(text) as Record<string, unknown>);
    const action = Array.isArray(data) ? 'MUSIC' : 'LYRICS';
    const record = { task_id: id, action, status, progress: '100%', fail_reason: 'Refused.', data };
    const reply =
      method === 'POST'
        ? { code: 'success', msg: '', data: id }
        : last === 'feed'
          ? [song(clip)]
          : last === 'act'
            ? { wav_file_url: `SELF/files/${path.split('/').at(-1)}.wav` }
            : { code: 'success', message: '', data: record };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply).replaceAll('SELF', `http://${request.headers.host}`));
  });
  return { bodies, calls, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
}

test.each([
  [['music'], 'A prompt, --lyrics or --tags is required.'],
  [['music', ' '], 'A prompt, --lyrics or --tags is required.'],
  [['music', 'a', 'b'], "Too many arguments for 'music'. Expected 1 argument but got 2."],
  [['music', 'a', '--lyrics', 'La'], '--lyrics cannot be combined with a prompt or --instrumental'],
  [
    ['music', '--lyrics', 'La', '--instrumental'],
    '--lyrics cannot be combined with a prompt or --instrumental',
  ],
  [['music', '--lyrics', ' '], '--lyrics must not be empty.'],
  [['music', '--lyrics', '-'], '--lyrics must not be empty.'],
  [['music', 'a', '-o', 'a.ogg'], 'the extension of a.ogg must be one of mp3, wav.'],
  [['music', 'a', '--both', '-o', '-'], '--both requires -o FILE.'],
  [['music', '--resume', id, '--tags', 'folk'], '--resume cannot be combined with --tags.'],
  [['music', 'a', '--seconds', '5'], "Unknown option '--seconds'."],
  [['lyrics'], 'A prompt is required.'],
  [['lyrics', 'a', '--tags', 'folk'], "Unknown option '--tags'."],
])('rejects the command line %j', async (args, message) => {
  const { calls, env } = await startTaskServer();
  const { code, stderr } = await runCommand(args, { env });
  expect({ code, stderr, calls }).toEqual({ code: 2, stderr: expect.stringContaining(message), calls: [] });
});

describe('the request', () => {
  const fixed = { mv: 'chirp-hawk', custom_mode: 0 };

  test.each([
    [['A song.'], { ...fixed, gpt_description_prompt: 'A song.' }],
    [
      ['A song.', '--tags', 'folk, slow', '--title', 'Low tide', '--instrumental'],
      {
        ...fixed,
        gpt_description_prompt: 'A song.',
        tags: 'folk, slow',
        title: 'Low tide',
        make_instrumental: 1,
      },
    ],
    [
      ['--lyrics', '[Verse]\nLa', '--tags', 'folk'],
      { ...fixed, custom_mode: 1, prompt: '[Verse]\nLa', tags: 'folk' },
    ],
    [['--lyrics', '-'], { ...fixed, custom_mode: 1, prompt: 'From standard input.\n' }],
    [['-'], { ...fixed, gpt_description_prompt: 'From standard input.\n' }],
    [['--tags', 'folk'], { ...fixed, tags: 'folk' }],
    [
      ['--param', 'task=gen_stem', '--param', 'continue_clip_id=a', '--param', 'mv=chirp-auk'],
      { custom_mode: 0, mv: 'chirp-auk', task: 'gen_stem', continue_clip_id: 'a' },
    ],
  ])('of %j', async (args, expected) => {
    const { bodies, env } = await startTaskServer();
    const stdin = 'From standard input.\n';
    expect(await runCommand(['music', ...args], { env, stdin })).toMatchObject({ code: 0 });
    expect(bodies).toEqual([expected]);
  });

  test('contains lyrics of a file, and is not sent if the file is missing', async () => {
    const { bodies, calls, env } = await startTaskServer();
    const path = join(folder, 'words.txt');
    const args = ['music', '--lyrics', `@${path}`, '-o', join(folder, 'a.mp3')];
    expect(await runCommand(args, { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ENOENT'),
    });
    expect(calls).toEqual([]);
    await writeFile(path, '[Verse]\nLa\n');
    expect(await runCommand(args, { env })).toMatchObject({ code: 0 });
    expect(bodies).toMatchObject([{ custom_mode: 1, prompt: '[Verse]\nLa\n' }]);
  });
});

describe('the songs', () => {
  test('the first is written to the file', async () => {
    const { env } = await startTaskServer();
    const path = join(folder, 'song.mp3');
    const { code, stderr } = await runCommand(['music', 'A song.', '-o', path], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: `task ${id}\n` });
    expect(await readFile(path, 'utf8')).toBe('a.mp3');
    expect(await readdir(folder)).toEqual(['song.mp3']);
  });

  test('both are written to numbered files', async () => {
    const { bodies, env } = await startTaskServer([song('broken', 'error'), song('b'), song('c')]);
    const path = join(folder, 'my song.mp3');
    const { code, stderr } = await runCommand(['music', 'A song.', '--both', '-o', path], {
      env,
      isTTY: true,
    });
    expect({ code, bodies: bodies.length }).toEqual({ code: 0, bodies: 1 });
    expect((await readdir(folder)).sort()).toEqual(['my song-1.mp3', 'my song-2.mp3']);
    expect(await readFile(join(folder, 'my song-1.mp3'), 'utf8')).toBe('b.mp3');
    expect(await readFile(join(folder, 'my song-2.mp3'), 'utf8')).toBe('c.mp3');
    expect(stderr).toContain(`${join(folder, 'my song-2.mp3')}: 0.0 kB\n`);
  });

  test('a WAV file is requested as WAV', async () => {
    const { calls, env } = await startTaskServer();
    const path = join(folder, 'song.wav');
    expect(await runCommand(['music', 'A song.', '-o', path], { env })).toMatchObject({ code: 0 });
    expect(calls).toContain('GET /sigma/act/wav/a');
    expect(await readFile(path, 'utf8')).toBe('a.wav');
  });

  test.each([
    [[], [], 'The task created no song.'],
    [[song('a')], ['song-1.mp3'], 'The task created only one song.'],
  ])('reports missing songs: %j', async (songs, files, message) => {
    const { env } = await startTaskServer(songs);
    const args = ['music', 'A song.', '--both', '-o', join(folder, 'song.mp3')];
    const { code, stderr } = await runCommand(args, { env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: `task ${id}\nunigate: no_song: ${message}\n` });
    expect(await readdir(folder)).toEqual(files);
  });

  test('a failed task prints one line and writes no file', async () => {
    const { env } = await startTaskServer([], 'FAILURE');
    const args = ['music', 'A song.', '-o', join(folder, 'song.mp3')];
    const { code, stderr } = await runCommand(args, { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `task ${id}\nunigate: FAILURE: Refused. [${id}]\n`,
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('a task is resumed with the command that an interrupted command prints', async () => {
    const { calls, env } = await startTaskServer([song('a'), song('b')], 'IN_PROGRESS');
    const path = join(folder, 'song.mp3');
    const stop = new AbortController();
    const running = runCommand(['music', 'A song.', '--both', '-o', path], { env, signal: stop.signal });
    await expect.poll(() => calls.length).toBeGreaterThan(1);
    stop.abort();
    const again = `npx unigate music --resume ${id} -o ${path} --both`;
    expect(await running).toMatchObject({
      code: 1,
      stderr: `task ${id}\nunigate: stopped. Resume with: ${again}\n`,
    });

    const { env: done, bodies } = await startTaskServer();
    expect(await runCommand(again.split(' ').slice(2), { env: done })).toMatchObject({ code: 0, stderr: '' });
    expect((await readdir(folder)).sort()).toEqual(['song-1.mp3', 'song-2.mp3']);
    expect(bodies).toEqual([]);
  });
});

describe('lyrics', () => {
  test('are written to standard output, also on a terminal, and their title to standard error', async () => {
    const { bodies, env } = await startTaskServer(lyrics);
    const { code, stdout, stderr } = await runCommand(['lyrics', 'A lullaby.'], { env });
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: '[Verse]\nThe water leaves\n',
      stderr: `task ${id}\ntitle Low tide\n`,
    });
    expect(bodies).toEqual([{ prompt: 'A lullaby.' }]);
    expect(await runCommand(['lyrics', 'A lullaby.', '-q'], { env, isTTY: true })).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  test('contain no control characters on a terminal, and are unchanged in a pipe', async () => {
    const { env } = await startTaskServer({
      ...lyrics,
      title: 'Low\x1b]0;x\x07 tide',
      text: 'The\x1b[2J water\n\x9bleaves',
    });
    const onTerminal = await runCommand(['lyrics', 'A lullaby.'], { env, isTTY: true });
    expect(onTerminal.stdout.toString()).toBe('The[2J water\nleaves\n');
    expect(onTerminal.stderr).toContain('title Low]0;x tide\n');
    const piped = await runCommand(['lyrics', 'A lullaby.'], { env });
    expect(piped.stdout.toString()).toBe('The\x1b[2J water\n\x9bleaves\n');
  });

  test('are written to a file and resumed', async () => {
    const { env, bodies } = await startTaskServer(lyrics);
    const path = join(folder, 'words.txt');
    expect(await runCommand(['lyrics', '--resume', id, '-o', path], { env })).toMatchObject({ code: 0 });
    expect(await readFile(path, 'utf8')).toBe('[Verse]\nThe water leaves\n');
    expect(bodies).toEqual([]);
  });

  test('of a task with songs are an error', async () => {
    const { env } = await startTaskServer();
    const { code, stderr } = await runCommand(['lyrics', '--resume', id], { env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`${id} is a music task.`) });
  });
});
