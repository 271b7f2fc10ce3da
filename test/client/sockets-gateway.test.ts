import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RealtimeError,
  Unigate,
} from '../../client/index.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { collect } from './socket-server.ts';

const run = promisify(execFile);
let gateway: TestGateway;
let client: Unigate;
beforeAll(async () => {
  gateway = await startTestGateway();
  client = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key });
});
afterAll(() => gateway.close());

const settled = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
const text = 'Good morning. This is spoken while it is written.';

/** Duration of 16-bit mono PCM, in seconds. */
const secondsOf = (chunks: Uint8Array[], rate: number) => Buffer.concat(chunks).length / 2 / rate;

test.each(['alpha3-tts-flash-realtime', 'alpha-tts-realtime'])('a session of %s', async (model) => {
  const session = await client.realtime(model);
  const [voice = ''] = await voicesOf(model);
  const confirmed = await session.update({ voice });
  expect(confirmed).toMatchObject({ model, voice });
  for (const word of text.split(/(?<= )/)) await session.append(word);
  await session.finish();
  const chunks = await collect(session.audio());
  expect(secondsOf(chunks, 24_000)).toBeGreaterThan(1);
  const usage = await session.close();
  if (model.startsWith('alpha3')) expect(usage).toEqual({ characters: text.length });
  else expect(usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
});

test('a session in a browser', async () => {
  const browser = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key, webSocket: WebSocket });
  const session = await browser.realtime('alpha3-tts-flash-realtime');
  const chunks = await collect(session.speak(text, { voice: 'Aria', sample_rate: 8000 }));
  expect(secondsOf(chunks, 8_000)).toBeGreaterThan(1);
});

test('a session continues after an invalid value', async () => {
  const session = await client.realtime('alpha-tts-realtime');
  const error = await settled(session.update({ voice: 'Clio', sample_rate: 48000 }));
  expect(error).toMatchObject({
    constructor: RealtimeError,
    code: 'invalid_value',
    param: 'session.sample_rate',
  });
  await session.update({ voice: 'Clio' });
  expect(await session.close()).toBeUndefined();
});

test('two tasks on one socket', async () => {
  const connection = await client.inference('voxa-v3-flash');
  for (const format of ['pcm', 'wav'] as const) {
    const task = await connection.task({ voice: 'voxanna', format, sample_rate: 16000 });
    await task.send(text);
    await task.finish();
    const chunks = await collect(task.audio());
    expect(secondsOf(chunks, 16_000)).toBeGreaterThan(1);
    expect(await task.close()).toEqual({ characters: text.length, cost: text.length });
  }
  await connection.close();
});

test('rejected handshakes', async () => {
  const stranger = new Unigate({ baseUrl: gateway.url, apiKey: 'sk-stranger' });
  expect(await settled(stranger.realtime('alpha3-tts-flash-realtime'))).toMatchObject({
    constructor: AuthenticationError,
    code: 'invalid_api_key',
    requestId: expect.stringMatching(/^req_/),
  });
  expect(await settled(client.inference('no-model'))).toBeInstanceOf(NotFoundError);
  expect(await settled(client.realtime('voxa-v3-flash'))).toBeInstanceOf(BadRequestError);
});

test('the example of the README writes a playable file', async () => {
  const root = join(import.meta.dirname, '../..');
  const readme = await readFile(join(root, 'client/README.md'), 'utf8');
  const example = [...readme.matchAll(/```ts\n(.*?)```/gs)].find(([, code]) => code?.includes('.realtime('));
  const program = example?.[1]?.replace('@unigate/client', join(root, 'client/index.ts')) ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'unigate-example-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'script.ts'), program);
  const env = { UNIGATE_BASE_URL: gateway.url, UNIGATE_API_KEY: gateway.key };
  // Node detects that the script is an ES module.
  const { stdout } = await run(process.execPath, ['script.ts'], { cwd: folder, env });
  expect(stdout).toMatch(/^\{ characters: \d+ \}\n$/);
  const wav = await readFile(join(folder, 'morning.wav'));
  expect(wav.subarray(0, 16).toString('latin1')).toMatch(/^RIFF.{4}WAVEfmt $/s);
  expect(wav.readUInt32LE(4)).toBe(wav.length - 8);
  expect(wav.readUInt32LE(24)).toBe(24_000);
  expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
  expect(secondsOf([wav.subarray(44)], 24_000)).toBeGreaterThan(2);
});

async function voicesOf(model: string): Promise<string[]> {
  const all = await client.models.list();
  return all.find(({ id }) => id === model)?.voices?.map(({ id }) => id) ?? [];
}
