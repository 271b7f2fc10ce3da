import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { wavHeader } from '../../client/index.ts';
import { type Accepted, type Frame, startSocketServer } from './socket-server.ts';
import { runCommand } from './terminal.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-live-'));
});
afterEach(() => rm(folder, { recursive: true }));

const env = (url: string) => ({ UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' });

/** Returns each text as audio, in one response per text. */
function startRealtime() {
  return startSocketServer({
    frame(accepted, { type, session, text = '' }) {
      const say = (name: string, fields: object = {}) =>
        accepted.send({ event_id: 'e', type: name, ...fields });
      if (type === 'session.update') say('session.updated', { session });
      else if (type === 'session.finish') say('session.finished');
      else say('response.audio.delta', { delta: Buffer.from(text as string).toString('base64') });
    },
  });
}

/** Does the same with tasks. Rejects the voice `Nobody`. */
function startInference() {
  return startSocketServer({
    frame(accepted, frame) {
      const { action, task_id } = frame.header as { action: string; task_id: string };
      const payload = frame.payload as { input: { text?: string }; parameters?: { voice: string } };
      const say = (event: string, more: object = {}, facts: object = {}) =>
        accepted.send({ header: { task_id, event, attributes: {}, ...facts }, payload: more });
      if (payload.parameters?.voice === 'Nobody')
        say('task-failed', {}, { error_code: 'InvalidParameter', error_message: 'voice: unknown.' });
      else if (action === 'run-task') say('task-started');
      else if (action === 'finish-task') say('task-finished', { usage: { characters: 1 } });
      else accepted.socket.send(Buffer.from(payload.input.text ?? ''));
    },
  });
}

const first = ({ all }: { all: Accepted[] }): Frame | undefined => all[0]?.received[0];

describe('speak --realtime', () => {
  const args = ['speak', 'Hi.', '--voice', 'Aria', '--realtime'];

  test('writes only the unchanged audio to standard output', async () => {
    const server = await startRealtime();
    const { code, stdout, stderr } = await runCommand(args, { env: env(server.url) });
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 0, stdout: 'Hi.', stderr: '' });
    expect(server.all[0]?.request.url).toBe('/api-ws/v1/realtime?model=alpha3-tts-flash-realtime');
    expect(first(server)?.session).toEqual({ voice: 'Aria' });
  });

  test('sends the given options', async () => {
    const server = await startRealtime();
    const options = '--model m --format opus --sample-rate 48000 --speed 0 --instructions Slowly.'.split(' ');
    await runCommand([...args, ...options], { env: env(server.url) });
    expect(server.all[0]?.request.url).toBe('/api-ws/v1/realtime?model=m');
    expect(first(server)?.session).toEqual({
      voice: 'Aria',
      response_format: 'opus',
      sample_rate: 48000,
      speech_rate: 0,
      instructions: 'Slowly.',
    });
  });

  test('writes one WAV file for all responses, with its length', async () => {
    const server = await startRealtime();
    const path = join(folder, 'a.wav');
    const stdin = 'One.\nTwo.\n';
    const { code } = await runCommand(['speak', '-', ...args.slice(2), '-o', path], {
      env: env(server.url),
      stdin,
    });
    expect(code).toBe(0);
    expect(await readFile(path)).toEqual(Buffer.concat([wavHeader(24_000, 10), Buffer.from(stdin)]));
    expect(await readdir(folder)).toEqual(['a.wav']);
    expect(first(server)?.session).toEqual({ voice: 'Aria', response_format: 'pcm', sample_rate: 24_000 });
    const texts = server.all[0]?.received.slice(1).map(({ text }) => text);
    expect(texts).toEqual(['One.\n', 'Two.\n', undefined]);
  });

  test('writes an unknown length to a pipe', async () => {
    const server = await startRealtime();
    const wav = ['--format', 'wav', '--sample-rate', '8000'];
    const { stdout } = await runCommand([...args, ...wav], { env: env(server.url) });
    expect(stdout).toEqual(Buffer.concat([wavHeader(8_000), Buffer.from('Hi.')]));
    expect(stdout.readUInt32LE(40)).toBe(0xffffffff);
  });

  test('leaves no file without audio', async () => {
    const server = await startRealtime();
    const { code, stderr } = await runCommand(
      ['speak', '-', '--voice', 'v', '--realtime', '-o', join(folder, 'a.wav')],
      { env: env(server.url) },
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'unigate: The gateway sent no audio.\n' });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('speak --duplex', () => {
  const args = ['speak', '-', '--voice', 'voxanna', '--duplex'];

  test('sends the lines of standard input as they arrive', async () => {
    const server = await startInference();
    const { code, stdout, stderr } = await runCommand(args, { env: env(server.url), stdin: 'One.\nTwo.' });
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: 'One.\nTwo.\n',
      stderr: '',
    });
    expect(server.all[0]?.request.url).toBe('/api-ws/v1/inference?model=voxa-v3-flash');
    expect(first(server)?.payload).toMatchObject({
      model: 'voxa-v3-flash',
      parameters: { text_type: 'PlainText', voice: 'voxanna' },
    });
  });

  test('writes a WAV file with its length', async () => {
    const server = await startInference();
    const path = join(folder, 'a.wav');
    await runCommand([...args, '-o', path, '--speed', '1.5'], { env: env(server.url), stdin: 'One.' });
    expect(await readFile(path)).toEqual(Buffer.concat([wavHeader(24_000, 5), Buffer.from('One.\n')]));
    expect(first(server)?.payload).toMatchObject({
      parameters: { format: 'pcm', sample_rate: 24_000, rate: 1.5 },
    });
  });

  test('prints one line for an error and writes no file', async () => {
    const server = await startInference();
    const { code, stderr } = await runCommand(
      ['speak', 'Hi.', '--duplex', '--voice', 'Nobody', '-o', join(folder, 'a.mp3')],
      { env: env(server.url) },
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'unigate: InvalidParameter: voice: unknown. [request req_socket]\n',
    });
    expect(await readdir(folder)).toEqual([]);
  });
});

test.each([
  [['Hi.', '--realtime', '--duplex'], '--realtime and --duplex cannot be combined.'],
  [[' ', '--realtime'], 'The text is empty.'],
  [['Hi.', '--duplex', '--format', 'flac'], '--format must be one of pcm, wav, mp3, opus.'],
  [['Hi.', '--duplex', '-o', 'a.flac'], 'the extension of a.flac must be one of pcm, wav, mp3, opus.'],
  [['Hi.', '--duplex', '--sample-rate', 'x'], '--sample-rate must be a number.'],
])('rejects the command line %j', async (args, message) => {
  const { code, stderr } = await runCommand(['speak', '--voice', 'v', ...args], { env: env('http://x') });
  expect({ code, stderr }).toEqual({ code: 2, stderr: `unigate: ${message} See unigate --help.\n` });
});
