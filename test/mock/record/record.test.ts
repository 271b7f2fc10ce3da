import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { type Mock, startMock } from '../server.ts';
import { ExamplesFolder } from './examples-folder.ts';
import { masked } from './mask.ts';

const folders: string[] = [];
const mocks: Mock[] = [];
afterAll(async () => {
  await Promise.all(mocks.map((mock) => mock.close()));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-examples-'));
  folders.push(folder);
  return folder;
}

async function startRecorder(gateway: string, key: string, folder: string, limit = 1_000_000) {
  const logLines: string[] = [];
  const examples = await ExamplesFolder.open(folder);
  const record = { gateway, key, limit, folder: examples, log: (line: string) => logLines.push(line) };
  const mock = await startMock({ examples, record });
  mocks.push(mock);
  return { mock, logLines };
}

async function startPlayer(folder: string): Promise<Mock> {
  const mock = await startMock({ examples: await ExamplesFolder.open(folder), paceMs: 0 });
  mocks.push(mock);
  return mock;
}

const readAll = async (folder: string) => {
  const names = await readdir(folder);
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')))).join('\n');
};

describe('recording a gateway', () => {
  let gateway: TestGateway;
  let folder: string;
  let recorder: Mock;
  let player: Mock;
  /** Texts that no file may contain. */
  const secrets: string[] = [];
  const clientKey = 'sk-of-the-front-end-1234567890';
  beforeAll(async () => {
    gateway = await startTestGateway();
    folder = await newFolder();
    recorder = (await startRecorder(gateway.url, gateway.key, folder)).mock;
    secrets.push(gateway.key, clientKey);
  }, 60_000);
  afterAll(() => gateway.close());

  const call = (mock: Mock, path: string, body?: object, headers: Record<string, string> = {}) =>
    fetch(mock.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const speech = { model: 'alpha3-tts-flash', input: 'Recorded.', voice: 'Aria' };
  const native = { model: 'alpha3-tts-flash', input: { text: 'Recorded.', voice: 'Aria' } };
  const key = { name: 'recorded', remain_quota: 1 };
  const video = { model: 'gamma3.0-video', prompt: 'A boat.' };

  test('stores the responses and replays them', async () => {
    const response = await call(recorder, '/v1/audio/speech', speech);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/wav']);
    const audio = Buffer.from(await response.arrayBuffer());
    const path = '/api/v1/services/aigc/multimodal-generation/generation';
    const stream = await (await call(recorder, path, native, { 'x-native-sse': 'enable' })).text();
    const whole = (await (await call(recorder, path, native)).json()) as {
      output: { audio: { url: string } };
    };
    secrets.push(new URL(whole.output.audio.url).host, new URL(whole.output.audio.url).pathname);
    const token = (await (await call(recorder, '/api/token/', key)).json()) as { data: { key: string } };
    secrets.push(token.data.key);
    const refused = await call(recorder, '/v1/audio/speech', { ...speech, model: 'none-such' });
    expect(refused.status).toBe(404);
    const created = (await (await call(recorder, '/v1/videos', video)).json()) as { id: string };
    const seen: string[] = [];
    await vi.waitFor(
      async () => {
        const task = (await (await call(recorder, `/v1/videos/${created.id}`)).json()) as { status: string };
        seen.push(task.status);
        expect(task.status).toBe('completed');
      },
      { timeout: 30_000, interval: 100 },
    );

    player = await startPlayer(folder);
    expect(Buffer.from(await (await call(player, '/v1/audio/speech', speech)).arrayBuffer())).toEqual(audio);
    // The same fields in another order.
    const { model, ...rest } = speech;
    expect(
      (await (await call(player, '/v1/audio/speech', { ...rest, model })).arrayBuffer()).byteLength,
    ).toBe(audio.length);
    const played = await call(player, path, native, { 'x-native-sse': 'enable' });
    expect(stream).toContain('event:result');
    expect((await played.text()).match(/^data:/gm)).toEqual(stream.match(/^data:/gm));
    const { output } = (await (await call(player, path, native)).json()) as typeof whole;
    expect((await fetch(output.audio.url)).headers.get('content-type')).toBe('audio/wav');
    expect((await call(player, '/v1/audio/speech', { ...speech, model: 'none-such' })).status).toBe(404);
    const replayedVideo = (await (await call(player, '/v1/videos', video)).json()) as { id: string };
    expect(replayedVideo.id).toBe(created.id);
    const replayed = new Set<string>();
    for (let poll = 0; poll < seen.length + 2; poll += 1) {
      const task = (await (await call(player, `/v1/videos/${created.id}`)).json()) as { status: string };
      replayed.add(task.status);
    }
    expect([...replayed]).toEqual([...new Set(seen)]);
  }, 60_000);

  test('stores no secrets', async () => {
    const text = await readAll(folder);
    expect(text.length).toBeGreaterThan(1000);
    expect(secrets.length).toBe(5);
    for (const secret of secrets) expect(text.includes(secret), secret).toBe(false);
    expect(text).not.toMatch(/authorization|bearer|127\.0\.0\.1/i);
  });

  test('is overridden by mock headers', async () => {
    const headers = { 'x-mock-status': '429' };
    for (const mock of [player, recorder])
      expect((await call(mock, '/v1/audio/speech', speech, headers)).status).toBe(429);
  });
});

describe('recording an upstream', () => {
  let server: Server;
  let url: string;
  let aborted = 0;
  const large = 'x'.repeat(5000);
  const signed = 'https://bucket.example/a/b/clip.mp4?X-Amz-Signature=abcdef0123456789&Expires=17';
  beforeAll(async () => {
    server = createServer((request, response) => {
      response.on('close', () => {
        if (!response.writableFinished) aborted += 1;
      });
      const { pathname } = new URL(request.url ?? '', 'http://upstream');
      response.setHeader('set-cookie', 'session=do-not-keep-me');
      if (pathname === '/v1/models') return;
      if (pathname === '/v1/audio/speech')
        return response.setHeader('content-type', 'audio/mpeg').end(Buffer.alloc(5000, 1));
      response.setHeader('content-type', 'application/json');
      if (pathname === '/v1/embeddings') return response.end(JSON.stringify({ large }));
      if (pathname === '/v1/messages') {
        response.setHeader('content-type', 'text/event-stream');
        return response.end(
          `event: ping\ndata: ${JSON.stringify({ link: signed })}\n\nevent: end\ndata: [DONE]\n\n`,
        );
      }
      const secret = {
        authorization: request.headers.authorization,
        url: signed,
        vendor_token: 'vt_secret-00-1',
      };
      response.end(JSON.stringify({ ...secret, text: `see ${signed} with sk-abcdefghij` }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const post = (mock: Mock, path: string) =>
    fetch(mock.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-client-key' },
      body: '{}',
    });

  test('stores no signatures, cookies or keys', async () => {
    const folder = await newFolder();
    const { mock } = await startRecorder(url, 'sk-the-real-key', folder);
    const reply = await (await post(mock, '/v1/videos')).text();
    expect(reply).toContain('sk-the-real-key');
    expect(reply).toContain(signed);
    await (await post(mock, '/v1/messages')).text();
    const text = await readAll(folder);
    expect(text).toContain('https://files.example/masked.mp4');
    for (const secret of [
      'abcdef0123456789',
      'bucket.example',
      'sk-the',
      'sk-client',
      'sk-abc',
      'vt_secret',
      'session=',
    ])
      expect(text, secret).not.toContain(secret);
  });

  test('stores events separately', async () => {
    const folder = await newFolder();
    const { mock } = await startRecorder(url, 'sk-the-real-key', folder);
    await (await post(mock, '/v1/messages')).text();
    const [name = ''] = await readdir(folder);
    const { answers } = JSON.parse(await readFile(join(folder, name), 'utf8')) as {
      answers: { events: unknown }[];
    };
    expect(answers[0]?.events).toEqual([
      { head: 'event: ping\ndata: ', data: { link: 'https://files.example/masked.mp4' } },
      { head: '', text: 'event: end\ndata: [DONE]\n\n' },
    ]);
  });

  test('logs large bodies and does not store them', async () => {
    const folder = await newFolder();
    const { mock, logLines } = await startRecorder(url, 'sk-the-real-key', folder, 1000);
    expect(await (await post(mock, '/v1/embeddings')).json()).toEqual({ large });
    const bytes = (await (await post(mock, '/v1/audio/speech')).arrayBuffer()).byteLength;
    expect(bytes).toBe(5000);
    expect(logLines).toEqual([
      expect.stringMatching(/^not stored: createEmbedding 200: \d+ bytes are over --record-limit$/),
      'stored without its file: createSpeech 200: 5000 bytes are over --record-limit',
    ]);
    expect(await readdir(folder)).toHaveLength(1);
    const player = await startPlayer(folder);
    const body = { model: 'alpha3-tts-flash', input: 'Hello.', voice: 'Aria' };
    const response = await fetch(`${player.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer any' },
      body: JSON.stringify(body),
    });
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1000);
  });

  test('is aborted when the client disconnects', async () => {
    const { mock } = await startRecorder(url, 'sk-the-real-key', await newFolder());
    const abort = new AbortController();
    const request = fetch(`${mock.url}/v1/models`, {
      signal: abort.signal,
      headers: { authorization: 'Bearer any' },
    });
    await vi.waitFor(async () => {
      const { requests } = (await (await fetch(`${mock.url}/__mock/state`)).json()) as {
        requests: { operation?: string }[];
      };
      expect(requests[0]?.operation).toBe('listModels');
    });
    abort.abort();
    await expect(request).rejects.toThrow();
    await vi.waitFor(() => expect(aborted).toBe(1));
  });

  test('returns a documented error if it is unreachable', async () => {
    const { mock } = await startRecorder('http://127.0.0.1:9', 'sk-the-real-key', await newFolder());
    const reply = await post(mock, '/v1/embeddings');
    expect([reply.status, await reply.json()]).toEqual([
      502,
      {
        error: {
          code: 'do_request_failed',
          message: expect.stringContaining('127.0.0.1:9'),
          request_id: expect.any(String),
        },
      },
    ]);
  });
});

test.each([
  ['{', 'x.json'],
  ['{"operation":"none"}', 'x.json: operation: the contract has no "none"'],
  ['{"operation":"createSpeech"}', 'x.json: request: is missing'],
  [
    '{"operation":"createSpeech","request":{"path":"/"},"answers":[]}',
    'x.json: answers: is missing or empty',
  ],
  [
    '{"operation":"createSpeech","request":{"path":"/"},"answers":[{}]}',
    'answers.0: needs status and headers',
  ],
])('an invalid example is reported: %s', async (text, expected) => {
  const folder = await newFolder();
  await writeFile(join(folder, 'x.json'), text);
  await expect(ExamplesFolder.open(folder)).rejects.toThrow(expected);
});

test('masked secrets keep their format', () => {
  const secret = {
    api_key: 'sk-12ab34cd56',
    session_token: 'abc-DEF',
    prompt_tokens: 12,
    token_name: 'front end',
    keys: ['sk-999999'],
  };
  expect(masked(secret, [])).toEqual({
    api_key: 'sk-0000000000',
    session_token: '000-000',
    prompt_tokens: 12,
    token_name: 'front end',
    keys: ['sk-000000'],
  });
  expect(masked({ raw: '{"password":"hunter22","a":1}', jwt: 'eyJhbGciOi.eyJzdWIi.c2ln' }, [])).toEqual({
    raw: '{"password":"00000000","a":1}',
    jwt: '0000000000.00000000.0000',
  });
});
