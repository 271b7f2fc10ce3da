import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseConfiguration } from '../../server/settings/configuration.ts';
import type { TaskModel } from '../../server/tasks/task-model.ts';
import { ledgerRows, logRows } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { GenericClient } from './generic-client.ts';

const older: TaskModel = { id: 'eta-imagine-video', unit: 'seconds', protocol: 'eta' };
const newer: TaskModel = { ...older, id: 'eta-imagine-video-1.5-preview' };
const prompt = 'A paper boat.';
const anna = 'https://files.example/anna.png';
const walk = 'https://files.example/walk.mp4';

describe('an eta upstream', () => {
  const upstreamId = 'b1946ac9-2b37-4c54-a3f5-9d0d9d6d2f11';
  const file = 'https://origin.files.example:8443/boat.mp4?signature=9f2c';
  const done = { status: 'done', video: { url: file, duration: 6, respect_moderation: true }, progress: 100 };
  type ScriptedResponse = [status: number, body: string] | 'disconnect';
  let submitResponse: ScriptedResponse;
  let pollResponse: ScriptedResponse;
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let client: GenericClient;

  const json = (body: unknown, status = 200): ScriptedResponse => [status, JSON.stringify(body)];
  beforeAll(async () => {
    upstream = await startUpstream(({ method }, response) => {
      const scripted = method === 'POST' ? submitResponse : pollResponse;
      if (scripted === 'disconnect') {
        response.destroy();
        return;
      }
      response.writeHead(scripted[0], { 'content-type': 'application/json' }).end(scripted[1]);
    });
    target = await startTestGateway({
      sandbox: false,
      channels: [
        channelTo(upstream.url, {
          protocol: 'eta',
          models: [
            { id: older.id, upstream: 'own-name' },
            { id: newer.id, upstream: undefined },
            { id: 'eta-next', upstream: undefined },
          ],
          customDomains: ['media.files.example'],
        }),
      ],
      prices: { '*': 10 },
      publicUrl: 'https://gateway.example/base',
    });
    client = new GenericClient(target);
  });
  beforeEach(() => {
    submitResponse = json({ request_id: upstreamId });
    pollResponse = json({ status: 'pending', progress: 0 });
  });
  afterEach(() => {
    upstream.seen.length = 0;
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  test.each(['/v1/videos', '/v1/video/generations'])('gets a translated request from %s', async (path) => {
    const body = { model: older.id, prompt, seconds: '6', size: '1280x720', images: [anna] };
    const task = await client.create(body, path);
    expect(upstream.changes()[0]).toMatchObject({
      method: 'POST',
      path: '/v1/videos/generations',
      headers: { authorization: 'Bearer upstream-key' },
      body: {
        model: 'own-name',
        prompt,
        duration: 6,
        resolution: '720p',
        aspect_ratio: '16:9',
        image: { url: anna },
      },
    });
    expect(Object.keys(upstream.changes()[0]?.body ?? {})).toHaveLength(6);
    expect(task).toMatchObject({
      status: 'queued',
      model: older.id,
      seconds: '6',
      size: '1280x720',
      error: null,
    });
    expect(JSON.stringify(task)).not.toContain(upstreamId);
  });

  test('gets edits at another path', async () => {
    await client.create({ model: older.id, prompt, video: { url: walk } });
    expect(upstream.changes()[0]).toMatchObject({
      path: '/v1/videos/edits',
      body: { model: 'own-name', prompt, video: { url: walk } },
    });
  });

  test('gets a model that only a channel lists', async () => {
    const task = await client.create({ model: 'eta-next', prompt, resolution: '720p' });
    expect(task.model).toBe('eta-next');
    expect(upstream.changes()[0]?.body).toEqual({ model: 'eta-next', prompt, resolution: '720p' });
  });

  const lastEntries = async () => ({
    ledger: (await ledgerRows(target)).at(-1),
    log: (await logRows(target)).at(-1),
  });

  test('is charged by the duration of the video', async () => {
    pollResponse = json(done);
    const { id } = await client.create({ model: older.id, prompt });
    expect((await lastEntries()).ledger).toMatchObject({ state: 'open', reserved: 80, unit: 'seconds' });
    const task = await client.waitForStatus(id, 'completed');
    expect(task).toMatchObject({ progress: 100, seconds: '6', video_url: file, url: file, error: null });
    expect(task.metadata).toEqual({ duration: 6, usage: { cost: 60 } });
    expect(task.content_url).toBe(`https://gateway.example/base/v1/videos/${id}/content`);
    const { ledger, log } = await lastEntries();
    expect(ledger).toMatchObject({ state: 'settled', reserved: 80, charged: 60 });
    expect(log).toMatchObject({
      status: 200,
      units: 6,
      quota: 60,
      operation: 'createVideo',
      error_code: null,
    });
  });

  test('that fails a task costs nothing', async () => {
    pollResponse = json({ status: 'failed', error: { code: 'internal', message: 'Broken' } });
    const { id } = await client.create({ model: older.id, prompt, seconds: '5' });
    const task = await client.waitForStatus(id, 'failed');
    expect(task.error).toEqual({ code: 'internal', message: 'Broken' });
    expect(task).not.toHaveProperty('video_url');
    const { ledger, log } = await lastEntries();
    expect(ledger).toMatchObject({ state: 'refunded', reserved: 50, charged: null });
    expect(log).toMatchObject({ error_code: 'internal', quota: 0 });
  });

  test.each<[string, ScriptedResponse, number, string]>([
    [
      'a rejection with its own message',
      json({ error: { code: 'invalid_argument', message: 'No' } }, 400),
      400,
      'invalid_argument',
    ],
    [
      'throttling',
      json({ error: { code: 'resource_exhausted', message: 'Slow down' } }, 429),
      429,
      'rate_limit_exceeded',
    ],
    ['a server error', json({}, 500), 502, 'bad_response_status_code'],
    [
      'a rejected key',
      json({ error: { code: 'unauthenticated', message: 'upstream-key' } }, 401),
      502,
      'bad_response_status_code',
    ],
    ['invalid JSON', [200, 'not json'], 502, 'bad_response'],
    ['a response without a task', json({ ok: true }), 502, 'bad_response'],
    ['a closed connection', 'disconnect', 502, 'do_request_failed'],
  ])('whose response is %s creates no task and costs nothing', async (_, scripted, status, code) => {
    submitResponse = scripted;
    const reply = await client.call('POST', '/v1/videos', { model: newer.id, prompt });
    expect([reply.status, reply.body.error.code]).toEqual([status, code]);
    expect(reply.body.error.message).not.toContain('upstream-key');
    const { ledger, log } = await lastEntries();
    expect(ledger?.state).toBe('refunded');
    expect(log).toMatchObject({ status, quota: 0, model_name: newer.id });
    // Resets the count of consecutive failures, so that no cool-down starts.
    submitResponse = json({ request_id: upstreamId });
    await client.create({ model: newer.id, prompt });
  });
});

test('an operator can allow host names, and only host names', () => {
  const configuration = (domain: string) =>
    `channels:\n  - { name: eta, protocol: eta, base_url: "https://a.example", models: ["*"], custom_domains: ["${domain}"] }\n`;
  const read = (domain: string) => parseConfiguration('config.yaml', configuration(domain), {}).file;
  expect(read('media.files.example').channels?.[0]?.custom_domains).toEqual(['media.files.example']);
  for (const invalidHost of ['https://files.example', 'files.example/a', 'a b', ''])
    expect(() => read(invalidHost)).toThrow('custom_domains');
});
