import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Channel, type ChannelSlots } from '../../server/channels/channel.ts';
import { requestWithFailover } from '../../server/channels/failover.ts';
import { BusyError } from '../../server/outbound/slots.ts';
import { FileHosts } from '../../server/providers/provider-file.ts';
import { asDriverError } from '../../server/tasks/driver.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { yieldUntil } from '../support/yield-until.ts';
import { makeKey, post } from './ledger.ts';

const anna = 1;
const berta = 2;
const logger = createLogger('silent');
const { signal } = new AbortController();

describe('the requests of a channel', () => {
  let upstream: RecordingUpstream;
  let timers: ManualTimers;
  let channel: Channel;
  /** Responses in flight. */
  let open: ServerResponse[];
  const opened: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    upstream = await startUpstream((_request, response) => {
      open.push(response);
      response.write('{');
    });
  });
  afterEach(async () => {
    for (const response of open) response.end('}');
    for (const one of opened.splice(0)) await one.close();
    upstream.seen.length = 0;
  });
  afterAll(() => upstream.close());

  const start = (): Channel => {
    open = [];
    timers = new ManualTimers();
    const slots: ChannelSlots = {
      calls: { count: 4, waitMs: 10_000, timers },
      polls: { count: 4, waitMs: 5_000, timers },
    };
    channel = new Channel(channelTo(upstream.url), () => timers.now, slots);
    opened.push(channel);
    return channel;
  };
  const call = (user: number) => channel.request({ method: 'POST', path: '/call', user, signal });
  const poll = (user: number) => channel.request({ method: 'GET', path: '/poll', user, poll: true, signal });
  const arrived = (count: number) => vi.waitFor(() => expect(upstream.seen).toHaveLength(count));

  test('of one user take at most half of the slots', async () => {
    start();
    await Promise.all([call(anna), call(anna)]);
    const third = call(anna);
    await call(berta);
    expect(upstream.seen).toHaveLength(3);
    timers.advance(10_000);
    await expect(third).rejects.toBeInstanceOf(BusyError);
  });

  test('release their slot when the response is read or aborted', async () => {
    start();
    const [read, aborted] = await Promise.all([call(anna), call(anna)]);
    const waiting = [call(anna), call(anna)];
    const dumped = read?.body.dump();
    open[0]?.end('}');
    open[1]?.write('"a chunk"');
    await dumped;
    await arrived(3);
    const chunks: AsyncIterator<Buffer> | undefined = aborted?.body[Symbol.asyncIterator]();
    await chunks?.next();
    await chunks?.return?.();
    await arrived(4);
    await Promise.all(waiting);
  });

  test('release their slot when they fail', async () => {
    start();
    const aborted = AbortSignal.abort(new Error('aborted'));
    for (let times = 0; times < 5; times += 1) {
      const refused = channel.request({ method: 'POST', path: '/call', user: anna, signal: aborted });
      await expect(refused).rejects.toThrow('aborted');
    }
    const withoutSlot = new Channel(channelTo('http://127.0.0.1:9'), Date.now, {
      calls: { count: 2, waitMs: 1, timers },
      polls: { count: 2, waitMs: 1, timers },
    });
    opened.push(withoutSlot);
    for (let times = 0; times < 3; times += 1) {
      const refused = withoutSlot.request({ method: 'POST', path: '/', user: anna, signal });
      await expect(refused).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    }
    await call(anna);
  });

  test('have separate slots for polls and calls', async () => {
    start();
    await Promise.all([call(anna), call(anna)]);
    await Promise.all([poll(anna), poll(anna)]);
    const waiting = [call(anna), poll(anna)];
    await Promise.all([call(berta), poll(berta)]);
    expect(upstream.seen).toHaveLength(6);
    timers.advance(10_000);
    await Promise.allSettled(waiting);
  });

  test('fail over when no slot becomes free, without a failure of the channel', async () => {
    const busy = start();
    await Promise.all([call(anna), call(anna)]);
    const other = await startUpstream((_request, response) => void response.end('{}'));
    const next = new Channel(channelTo(other.url, { name: 'next' }), () => timers.now);
    opened.push(next, other);
    /** Sends a request and advances the time when it waits for a slot. */
    const sendVia = async (channels: Channel[]) => {
      const { pending } = timers;
      const sent = requestWithFailover(
        channels,
        () => ({ method: 'POST', path: '/x', user: anna, signal }),
        logger,
      );
      await yieldUntil(() => timers.pending > pending);
      timers.advance(10_000);
      return sent;
    };
    for (let times = 0; times < 4; times += 1) {
      const { channel: by, response } = await sendVia([busy, next]);
      await response.body.dump();
      expect(by.name).toBe('next');
    }
    expect(busy.health.isHealthy).toBe(true);
    await expect(sendVia([busy])).rejects.toMatchObject({
      status: 503,
      code: 'get_channel_failed',
      retryAfter: 2,
    });
  });

  test('of a task are retryable when no slot becomes free', () => {
    const { kind, failureKind: fault, failure } = asDriverError(new BusyError('no slot'));
    expect([kind, fault, failure.status]).toEqual(['retryable', 'busy', 503]);
  });
});

describe('the files of a provider', () => {
  let upstream: RecordingUpstream;
  let target: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream(({ path, body }, response) => {
      if (path === '/endless') {
        response.write('RIFF');
        return;
      }
      if (path === '/short') {
        response.end('RIFF');
        return;
      }
      const { text } = (body as { input: { text: string } }).input;
      const audio = { data: '', url: `${upstream.url}/${text}`, id: 'a', expires_at: 1 };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          request_id: 'r',
          output: { finish_reason: 'stop', audio },
          usage: { characters: 5 },
        }),
      );
    });
    target = await startTestGateway({
      sandbox: false,
      channels: [channelTo(upstream.url, { privateFiles: true })],
    });
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  test('stay available to other users while one user downloads eighty of them slowly', async () => {
    const other = await target.gateway.store.run('createUser', { name: 'other', group: 'default', now: 1 });
    const { key } = await makeKey(target, { quota: 1_000, userId: other.id });
    const disconnect = new AbortController();
    const speak = (by: string, input: string) =>
      post(
        target.url,
        by,
        '/v1/audio/speech',
        { model: 'voxa-v2', input, voice: 'v1' },
        { signal: disconnect.signal },
      );
    const slow = Array.from({ length: 80 }, () => speak(target.key, 'endless'));
    const files = () => upstream.seen.filter(({ path }) => path === '/endless');
    await vi.waitFor(() => expect(files()).toHaveLength(80), { timeout: 10_000 });
    const reply = await speak(key, 'short');
    expect(await reply.text()).toBe('RIFF');
    disconnect.abort();
    await Promise.allSettled(slow);
  });
});

test('slow downloads of one channel do not block those of another channel on the same host', async () => {
  const host = await startUpstream((_request, response) => void response.write('RIFF'));
  const hosts = new FileHosts({}, { count: 1, waitMs: 10_000, timers: new ManualTimers() });
  const by = (name: string) => ({ channel: named(name), user: anna, logger, signal });
  const named = (name: string) => new Channel(channelTo(host.url, { name, privateFiles: true }), Date.now);
  const slow = await hosts.open(`${host.url}/a`, by('one'));
  const other = await hosts.open(`${host.url}/b`, by('other'));
  expect([slow.status, other.status]).toEqual([200, 200]);
  slow.body.destroy();
  other.body.destroy();
  await host.close();
});
