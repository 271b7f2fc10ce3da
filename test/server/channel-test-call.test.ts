import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { systemTimers } from '../../server/lib/timers.ts';
import { runChannelTest } from '../../server/providers/channel-test.ts';
import type { ChannelSettings } from '../../server/settings/settings.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

async function channelWith(
  respond: (response: ServerResponse) => void,
  change: Partial<ChannelSettings>,
): Promise<{ channel: Channel; upstream: RecordingUpstream }> {
  const upstream = await startUpstream((_request, response) => respond(response));
  const channel = new Channel(channelTo(upstream.url, change), Date.now);
  opened.push(upstream, channel);
  return { channel, upstream };
}

const respondWith =
  (status: number, body: unknown, contentType = 'application/json') =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': contentType });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
const { signal } = new AbortController();
const options = { timers: systemTimers, limitMs: 15_000, signal };
const named = (id: string) => [{ id, upstream: undefined }];

describe('the request of a channel test', () => {
  test.each<[ChannelSettings['protocol'], string[], string, string]>([
    ['native', ['*'], 'POST', '/api/v1/services/audio/tts/SpeechSynthesizer'],
    ['native', ['beta/*'], 'POST', '/api/v1/services/aigc/multimodal-generation/generation'],
    ['native', ['gamma3.0-video*', 'voxa-v1'], 'GET', '/api/v1/tasks/unigate-channel-test'],
    ['embeddings', ['own-*', 'own-2'], 'POST', '/v1/embeddings'],
    ['embeddings', ['own-*'], 'GET', '/v1/models/unigate-channel-test'],
    ['messages', ['*'], 'POST', '/v1/messages/count_tokens'],
    ['messages', ['own-*'], 'GET', '/v1/models/unigate-channel-test'],
    ['official', ['*'], 'GET', '/api/v3/contents/generations/tasks/unigate-channel-test'],
    ['sigma', ['*'], 'GET', '/sigma/fetch/unigate-channel-test'],
    ['imgjob', ['*'], 'GET', '/imgjob/task/unigate-channel-test/fetch'],
    ['eta', ['*'], 'GET', '/v1/videos/unigate-channel-test'],
    [
      'verification',
      ['*'],
      'GET',
      '/api/resource-channel/vendorx/visual-validate/sessions/unigate-channel-test',
    ],
  ])('to a %s channel for %j is %s %s', async (protocol, ids, method, path) => {
    const models = ids.flatMap(named);
    const { channel, upstream } = await channelWith(respondWith(404, {}), { protocol, models });
    await runChannelTest(channel, options);
    expect(upstream.seen.map((one) => [one.method, one.path])).toEqual([[method, path]]);
  });

  test('uses a voice of the channel and the model name of its provider', async () => {
    const models = [{ id: 'alpha3-tts-flash', upstream: 'vendor-tts' }];
    const { channel, upstream } = await channelWith(respondWith(200, { output: {} }), {
      models,
      voices: ['Bruno'],
    });
    expect(await runChannelTest(channel, options)).toMatchObject({ ok: true, model: 'alpha3-tts-flash' });
    expect(upstream.seen[0]?.body).toMatchObject({
      model: 'vendor-tts',
      input: { text: 'Hi', voice: 'Bruno' },
    });
  });

  test.each<[ChannelSettings['protocol'], string, string, object, string | undefined]>([
    ['embeddings', 'embeddings', 'theta-embedding-1', { input: 'a' }, undefined],
    ['messages', 'count_tokens', 'iota-chat-1', { messages: [{ role: 'user', content: 'a' }] }, '2023-06-01'],
  ])(
    'to %s contains one letter, for a model of the catalog if the channel names none',
    async (...testCase) => {
      const [protocol, request, model, body, version] = testCase;
      const { channel, upstream } = await channelWith(respondWith(200, {}), { protocol });
      expect(await runChannelTest(channel, options)).toMatchObject({ ok: true, request, model });
      const models = [{ id: 'own', upstream: 'theirs' }];
      const other = await channelWith(respondWith(200, {}), { protocol, models });
      expect(await runChannelTest(other.channel, options)).toMatchObject({ ok: true, model: 'own' });
      const seen = [...upstream.seen, ...other.upstream.seen];
      expect(seen.map((one) => [one.body, one.headers['compat-version']])).toEqual([
        [{ model, ...body }, version],
        [{ model: 'theirs', ...body }, version],
      ]);
    },
  );
});

describe('the result of a channel test', () => {
  const embeddings = { protocol: 'embeddings', models: named('own') } as const;
  const query = { protocol: 'eta' } as const;
  const passed = { ok: true, failure: null, problem: '' };

  test.each<[number, unknown, Partial<ChannelSettings>, object]>([
    [200, {}, embeddings, passed],
    [404, { code: 'NotFound' }, query, passed],
    [400, { code: 'InvalidParameter' }, query, passed],
    [404, 'no such page', query, passed],
    [200, 'welcome', query, { ok: false, failure: 'invalid_response' }],
    [302, '', embeddings, { ok: false, failure: 'invalid_response' }],
    [200, '<html>', embeddings, { ok: false, failure: 'invalid_response' }],
    [401, {}, query, { ok: false, failure: 'key_refused' }],
    [400, { code: 'InvalidApiKey' }, query, { ok: false, failure: 'key_refused' }],
    [429, {}, query, { ok: false, failure: 'throttled', problem: 'The provider answered with status 429.' }],
    [502, {}, embeddings, { ok: false, failure: 'server_error' }],
    [400, { error: { message: 'no model own' } }, embeddings, { ok: false, failure: null }],
  ])('for the response %i %j', async (status, body, change, verdict) => {
    const type = typeof body === 'string' ? 'text/html' : undefined;
    const { channel } = await channelWith(respondWith(status, body, type), change);
    expect(await runChannelTest(channel, options)).toMatchObject({ status, ...verdict });
  });

  const verdict = (status_code: number) => ({
    output: { base_resp: { status_code, status_msg: 'odd text' } },
  });
  const failed = 'The provider failed to handle the request.';
  test.each<[unknown, object]>([
    [{ output: {} }, passed],
    [{}, { ok: false, failure: 'invalid_response', problem: 'The response is not valid.' }],
    [verdict(0), passed],
    [verdict(2013), { ok: false, failure: null, problem: 'odd text' }],
    [verdict(1002), { ok: false, failure: null }],
    [verdict(1000), { ok: false, failure: 'server_error', problem: failed }],
  ])('of speech for the response %j', async (body, expected) => {
    const { channel } = await channelWith(respondWith(200, body), { models: named('beta/speech-02-hd') });
    expect(await runChannelTest(channel, options)).toMatchObject({
      request: 'speech',
      status: 200,
      ...expected,
    });
  });

  test('contains no hosts and keys of the provider', async () => {
    const message = 'upstream-key is not known at https://accounts.vendor.example/keys, ask 10.2.3.4';
    const { channel } = await channelWith(respondWith(400, { message }), embeddings);
    const { problem } = await runChannelTest(channel, options);
    expect(problem).toMatch(/^The provider answered with status 400: .*is not known/);
    expect(problem).not.toMatch(/upstream-key|vendor|10\.2/);
  });

  test('without a response is a timeout, which counts as a failure of the channel', async () => {
    const timers = new ManualTimers();
    const { channel, upstream } = await channelWith(() => timers.advance(15_000), embeddings);
    const verdict = await runChannelTest(channel, { ...options, timers });
    expect(verdict).toMatchObject({
      ok: false,
      status: null,
      failure: 'timeout',
      problem: 'The provider did not respond in time.',
    });
    expect([channel.health.figures.failures.timeout, upstream.seen.length]).toEqual([1, 1]);
  });

  test('is discarded when the client has disconnected, and does not count for the channel', async () => {
    const controller = new AbortController();
    const { channel } = await channelWith(() => controller.abort(new Error('gone')), embeddings);
    await expect(runChannelTest(channel, { ...options, signal: controller.signal })).rejects.toThrow('gone');
    expect(channel.health.figures.lastFailure).toBeUndefined();
  });

  test('after a broken connection is its error code', async () => {
    const { channel } = await channelWith((response) => void response.socket?.destroy(), embeddings);
    expect(await runChannelTest(channel, options)).toMatchObject({
      failure: 'disconnected',
      problem: expect.stringMatching(/^The connection broke off \([A-Z_]+\)\.$/),
    });
  });
});
