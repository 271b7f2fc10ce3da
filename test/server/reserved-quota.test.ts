import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findToken } from '../../server/store/queries/tokens.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { ledgerRows, logRows, makeKey, post, remainingQuota } from './ledger.ts';

const speech = '/v1/audio/speech';
const native = '/api/v1/services/aigc/multimodal-generation/generation';

describe.each(engines)('the charge on %s', (engine) => {
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let usage: unknown;

  beforeAll(async () => {
    upstream = await startUpstream((request, response) => {
      if (request.path === '/file.wav') {
        response.end(Buffer.alloc(2000, 1));
        return;
      }
      const audio = { data: '', url: `${upstream.url}/file.wav`, id: 'a', expires_at: 1 };
      const speechResponse = { request_id: 'r', output: { finish_reason: 'stop', audio }, usage };
      if (request.headers['x-native-sse'] !== 'enable') {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(speechResponse));
        return;
      }
      const audioEvent = { output: { finish_reason: 'null', audio: { data: 'AAAA' } } };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const data of [audioEvent, speechResponse])
        response.write(`id:1\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`);
      response.end();
    });
    target = await startTestGateway(
      {
        channels: [
          channelTo(upstream.url, { models: [{ id: 'alpha3-*', upstream: undefined }], priority: 9 }),
        ],
        prices: { '*': 1, 'alpha3-*': 10 },
      },
      engine,
    );
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  const text = 'Good morning, x';
  const calls: [string, (key: string) => Promise<Response>][] = [
    ['the native route', (key) => post(target.url, key, native, nativeBody())],
    [
      'native events',
      (key) => post(target.url, key, native, nativeBody(), { headers: { 'X-Native-SSE': 'enable' } }),
    ],
    ['a file', (key) => post(target.url, key, speech, standardBody())],
    ['a stream', (key) => post(target.url, key, speech, { ...standardBody(), stream: true })],
    [
      'forwarded events',
      (key) => post(target.url, key, speech, { ...standardBody(), stream: true, stream_format: 'sse' }),
    ],
  ];
  const nativeBody = () => ({ model: 'alpha3-tts-flash', input: { text, voice: 'Aria' } });
  const standardBody = () => ({ model: 'alpha3-tts-flash', input: text, voice: 'Aria' });

  test.each(calls)(
    "of %s is the provider's count, or the upper bound if the count is invalid",
    async (_name, call) => {
      for (const [characters, units, charged, debt] of [
        [999_999_999, 15, 150, 0],
        [61, 15, 150, 0],
        [1e300, 15, 150, 0],
        [-1, 15, 150, 0],
        [13.5, 15, 150, 0],
        ['99', 15, 150, 0],
        [null, 15, 150, 0],
        [14, 14, 140, 0],
        [16, 16, 160, 0],
        [20, 20, 200, 0],
        [21, 21, 200, 10],
        [60, 60, 200, 400],
      ] as const) {
        usage = { characters };
        const { key, id } = await makeKey(target, { quota: 200 });
        const reply = await call(key);
        expect(reply.status).toBe(200);
        await reply.arrayBuffer();
        expect((await ledgerRows(target)).at(-1)).toMatchObject({ reserved: 150, charged });
        expect(await remainingQuota(target, id)).toBe(200 - charged);
        expect((await logRows(target)).at(-1)).toMatchObject({ units, quota: charged, debt });
        expect((await findToken(target.gateway.store.read, id))?.debt).toBe(debt);
      }
    },
  );

  test('50 concurrent calls of one key, in any script, never overdraw it', async () => {
    const scripts = [
      'héé こ 안 好',
      '😀😀😀 ☃ €9',
      'WWWW ЖЖЖ 1234567',
      '早上好。안녕하세요?',
      'e\u0301\u0301 \u200d กขค עִבְ',
    ];
    const { key, id } = await makeKey(target, { quota: 800 });
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const input = { text: scripts[index % scripts.length], voice: 'Mei' };
        const reply = await post(target.url, key, native, { model: 'alpha-tts', input });
        await reply.arrayBuffer();
        return reply.status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200, 403]));
    const remaining = await remainingQuota(target, id);
    expect(remaining).toBeGreaterThanOrEqual(0);
    expect(remaining).toBeLessThan(800);
  });
});
