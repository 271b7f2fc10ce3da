import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type OperationId, operations } from '../../generated/operations.ts';
import { documentedOperations } from '../conformance/contract/documented.ts';
import { makeDatabase, type TestDatabase } from '../realtime/database.ts';
import { DatabaseProxy } from '../store/database-proxy.ts';
import { engines } from '../store/engines.ts';
import { exchange } from '../support/exchange.ts';
import { assertConforms, expectError } from '../support/expectations.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { requestUpgrade } from '../support/send-head.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { ledgerRows, ledgerRowsWithIds, logRows, makeKey, post, remainingQuota } from './ledger.ts';

const native = '/api/v1/services/audio/tts/SpeechSynthesizer';
const speechBody = { model: 'voxa-v3-flash', input: { text: 'Nine char', voice: 'v1' } };
const speechResponse = {
  request_id: 'r',
  output: {
    finish_reason: 'stop',
    audio: { data: '', url: 'https://files.example/a.mp3', id: 'a', expires_at: 1 },
  },
  usage: { characters: 9 },
};
const video = { model: 'gamma3.0-video', prompt: 'A kite.', seconds: '2', size: '480p' };
const quota = 1_000_000;

/** The clock does not advance, so the gateway uses its cached key and does not query the database. */
const now = 1_795_000_000_000;

describe.runIf(engines.includes('postgres'))('a gateway without its database', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let token: { key: string; id: number };
  let respond: (response: ServerResponse) => void;

  beforeAll(async () => {
    database = await makeDatabase('postgres');
    proxy = await DatabaseProxy.start(database.url);
    upstream = await startUpstream((_request, response) => respond(response));
    const channels = [channelTo(upstream.url)];
    target = await startTestGateway(
      { databaseUrl: proxy.url, sandbox: false, channels },
      'sqlite',
      () => now,
    );
  });
  afterEach(() => {
    proxy.up();
    upstream.seen.length = 0;
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
    await proxy.close();
    await database.remove();
  });

  const send = (status: number, body: object) => (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  /** Disconnects the database before the upstream responds. */
  const disconnectAndSend = (status: number, body: object) => (response: ServerResponse) => {
    proxy.down();
    send(status, body)(response);
  };
  const makeToken = async () => {
    token = await makeKey(target, { quota });
    // The key is cached from here on.
    await fetch(`${target.url}/v1/models`, { headers: { authorization: `Bearer ${token.key}` } });
  };
  const ready = async () => (await fetch(`${target.url}/readyz`)).status;
  const rowsOf = async (reply: Response) =>
    (await ledgerRowsWithIds(target)).filter(({ id }) => id === reply.headers.get('x-request-id'));

  test.each(
    [...documentedOperations.values()].filter(({ id }) => operations[id as OperationId]?.security !== 'none'),
  )('responds to $id with 503 in the format of the operation', async (operation) => {
    proxy.down();
    const sendRequest = operation.id.startsWith('open') ? requestUpgrade : exchange;
    const unknownCaller = { url: target.url, key: 'sk-never-seen-before' };
    const reported = assertConforms(await sendRequest(unknownCaller, operation), operation);
    expectError(reported, 503, { code: 'store_unavailable' });
    expect(reported.headers.get('retry-after')).toBe('1');
  });

  test.each([
    ['POST', native, speechBody],
    ['POST', '/v1/audio/speech', { model: 'voxa-v3-flash', input: 'Hi', voice: 'v1' }],
    ['POST', '/v1/videos', video],
    ['GET', '/v1/videos', undefined],
    ['GET', '/v1/videos/video_1', undefined],
    ['DELETE', '/v1/videos/video_1', undefined],
    ['GET', '/api/v3/contents/generations/tasks', undefined],
    ['GET', '/api/assets/asset-1', undefined],
    [
      'POST',
      '/api/v1/services/audio/tts/customization',
      { model: 'voice-enrollment', input: { action: 'list_voice' } },
    ],
  ])(
    'refuses a cached key on %s %s with 503, without a reservation or an upstream request',
    async (method, path, body) => {
      await makeToken();
      const before = (await ledgerRows(target)).length;
      proxy.down();
      const headers = { authorization: `Bearer ${token.key}`, 'content-type': 'application/json' };
      const refused = await fetch(target.url + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } });
      proxy.up();
      expect(upstream.seen).toEqual([]);
      expect(await ledgerRows(target)).toHaveLength(before);
      expect(await remainingQuota(target, token.id)).toBe(quota);
    },
  );

  test('is healthy but not ready, and becomes ready once the database is back', async () => {
    expect(await ready()).toBe(200);
    proxy.down();
    await vi.waitFor(async () => expect(await ready()).toBe(503), { timeout: 10_000 });
    expect((await fetch(`${target.url}/healthz`)).status).toBe(200);
    proxy.up();
    await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: 10_000 });
  });

  test('ends a speech response only after it is charged, once', async () => {
    await makeToken();
    respond = disconnectAndSend(200, speechResponse);
    let hasEnded = false;
    const reported = post(target.url, token.key, native, speechBody).finally(() => {
      hasEnded = true;
    });
    await vi.waitFor(async () => expect(await ready()).toBe(503), { timeout: 10_000 });
    expect(hasEnded).toBe(false);
    proxy.up();
    const reply = await reported;
    expect([reply.status, await reply.json()]).toEqual([200, speechResponse]);
    expect(await rowsOf(reply)).toMatchObject([{ state: 'settled', charged: 9 }]);
    const log = (await logRows(target)).filter((row) => row.request_id === reply.headers.get('x-request-id'));
    expect(log).toHaveLength(1);
    expect(await remainingQuota(target, token.id)).toBe(quota - 9);
  });

  test('forwards a rejection at once, and releases the quota when the database is back', async () => {
    await makeToken();
    respond = disconnectAndSend(400, { code: 'InvalidParameter', message: 'no', request_id: 'r' });
    const reply = await post(target.url, token.key, native, speechBody);
    expect(reply.status).toBe(400);
    proxy.up();
    await vi.waitFor(async () => expect(await rowsOf(reply)).toMatchObject([{ state: 'refunded' }]));
    expect(await remainingQuota(target, token.id)).toBe(quota);
  });

  test('stores a task that the provider accepted in the meantime, and creates it once', async () => {
    await makeToken();
    respond = disconnectAndSend(200, {
      output: { task_id: 'upstream-1', task_status: 'PENDING' },
      request_id: 'r',
    });
    const reported = post(target.url, token.key, '/v1/videos', video);
    await vi.waitFor(async () => expect(await ready()).toBe(503), { timeout: 10_000 });
    proxy.up();
    const reply = await reported;
    const { id } = (await reply.json()) as { id: string };
    expect(reply.status).toBe(200);
    expect(upstream.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
    const task = await target.gateway.store.read
      .selectFrom('tasks')
      .select(['upstream_id', 'state'])
      .where('id', '=', id)
      .executeTakeFirst();
    expect(task).toEqual({ upstream_id: 'upstream-1', state: 'queued' });
  });
});
