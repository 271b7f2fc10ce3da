import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { Channels } from '../../server/channels/channels.ts';
import { requestWithFailover } from '../../server/channels/failover.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { channelTo, type RecordingUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

const logger = createLogger('silent');
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

let now = 0;
const clock = () => now;

function channelsOf(settings: Parameters<typeof channelTo>[1][], random?: () => number) {
  const channels = new Channels(
    settings.map((change, index) => channelTo('http://127.0.0.1:9', { name: `c${index}`, ...change })),
    clock,
    random,
  );
  opened.push(channels);
  return channels;
}

const names = (channels: { name: string }[]) => channels.map(({ name }) => name);

describe('channels that serve a request', () => {
  test('have its protocol, model and group', () => {
    const channels = channelsOf([
      { models: [{ id: 'voxa-*', upstream: undefined }] },
      { models: [{ id: 'voxa-v2', upstream: 'other' }], groups: ['trial'] },
      { protocol: 'eta' },
      { models: [{ id: 'alpha3-tts-flash', upstream: undefined }] },
    ]);
    expect(names(channels.serving('native', 'voxa-v2', 'default'))).toEqual(['c0']);
    expect(names(channels.serving('native', 'voxa-v2', 'trial'))).toEqual(['c0', 'c1']);
    expect(channels.serving('native', 'nope', 'trial')).toEqual([]);
  });
});

describe('the order of candidates', () => {
  test('is by priority, whatever the weight', () => {
    const channels = channelsOf([{ weight: 1000 }, { priority: 5, weight: 0.001 }, { priority: 1 }]);
    expect(names(channels.order(channels.serving('native', 'x', 'default')))).toEqual(['c1', 'c2', 'c0']);
  });

  test('is drawn by weight within one priority', () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    const channels = channelsOf([{ weight: 1 }, { weight: 3 }], random);
    const candidates = channels.serving('native', 'x', 'default');
    let first = 0;
    for (let round = 0; round < 4000; round += 1)
      if (channels.order(candidates)[0]?.name === 'c1') first += 1;
    expect(first / 4000).toBeGreaterThan(0.72);
    expect(first / 4000).toBeLessThan(0.78);
  });

  test('puts a channel in cool-down last until its next probe', () => {
    const channels = channelsOf([{ priority: 9 }, {}]);
    const candidates = channels.serving('native', 'x', 'default');
    for (let failure = 0; failure < 3; failure += 1) {
      now += 1_000;
      candidates[0]?.health.startAttempt().fail('server_error');
    }
    expect(names(channels.order(candidates))).toEqual(['c1', 'c0']);
    now += 5_000;
    expect(names(channels.order(candidates))).toEqual(['c0', 'c1']);
    candidates[0]?.health.admit();
    expect(names(channels.order(candidates))).toEqual(['c1', 'c0']);
  });
});

describe('failover', () => {
  const openUpstream = async (
    respond: (request: SeenRequest, response: ServerResponse) => void,
  ): Promise<RecordingUpstream> => {
    const upstream = await startUpstream(respond);
    opened.push(upstream);
    return upstream;
  };
  const status = (code: number) => (_request: SeenRequest, response: ServerResponse) => {
    response.writeHead(code);
    response.end('{}');
  };
  const requestWith = async (settings: ReturnType<typeof channelTo>[]) => {
    const channels = new Channels(settings, clock);
    opened.unshift(channels);
    const { signal } = new AbortController();
    const order = channels.serving('native', 'm', 'default');
    return requestWithFailover(
      order,
      (channel) => ({ method: 'POST', path: '/api/x', body: { model: channel.upstreamModel('m') }, signal }),
      logger,
    );
  };

  test.each([401, 403, 429, 500, 503])('tries the next channel after a status %i', async (code) => {
    const failing = await openUpstream(status(code));
    const working = await openUpstream(status(200));
    const { response, channel } = await requestWith([
      channelTo(failing.url, { name: 'bad' }),
      channelTo(working.url, { name: 'good' }),
    ]);
    await response.body.dump();
    expect([channel.name, response.status, failing.seen.length]).toEqual(['good', 200, 1]);
  });

  test('tries the next channel when the connection is refused', async () => {
    const working = await openUpstream(status(200));
    const { response, channel } = await requestWith([
      channelTo('http://127.0.0.1:9'),
      channelTo(working.url, { name: 'good' }),
    ]);
    await response.body.dump();
    expect(channel.name).toBe('good');
  });

  test('stops when the upstream rejects the request itself', async () => {
    const strict = await openUpstream(status(400));
    const other = await openUpstream(status(200));
    const { response } = await requestWith([channelTo(strict.url), channelTo(other.url)]);
    await response.body.dump();
    expect([response.status, other.seen.length]).toEqual([400, 0]);
  });

  test('fails with 503 without a channel, and with 502 when none responds', async () => {
    await expect(requestWith([])).rejects.toMatchObject({ status: 503, code: 'get_channel_failed' });
    await expect(requestWith([channelTo('http://127.0.0.1:9')])).rejects.toMatchObject({ status: 502 });
  });

  test('renames models, headers and paths by the profile and keeps the path of the base URL', async () => {
    const upstream = await openUpstream(status(200));
    const channels = new Channels(
      [
        channelTo(`${upstream.url}/prefix`, {
          models: [{ id: 'm', upstream: 'other-m' }],
          profile: { headers: { 'X-Native-SSE': 'X-Other-SSE' }, paths: { '/api': '/v9' } },
        }),
      ],
      clock,
    );
    opened.unshift(channels);
    const { response } = await requestWithFailover(
      channels.serving('native', 'm', 'default'),
      (channel) => ({
        method: 'POST',
        path: '/api/x',
        headers: { 'X-Native-SSE': 'enable' },
        body: { model: channel.upstreamModel('m') },
        signal: new AbortController().signal,
      }),
      logger,
    );
    await response.body.dump();
    expect(upstream.seen[0]).toMatchObject({ path: '/prefix/v9/x', body: { model: 'other-m' } });
    expect(upstream.seen[0]?.headers['x-other-sse']).toBe('enable');
    expect(upstream.seen[0]?.headers['x-native-sse']).toBeUndefined();
  });
});
