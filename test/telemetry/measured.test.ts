import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { allMetrics } from '../../server/telemetry/metrics.ts';
import { SingleFlightCache } from '../../server/telemetry/single-flight-cache.ts';
import { Receiver } from '../deliveries/receiver.ts';
import { post } from '../server/ledger.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';
import { type Scrape, scrape } from './scrape.ts';

const speech = { model: 'voxa-v3-flash', voice: 'voxanna', response_format: 'mp3' };

describe.each(engines)('metrics on %s', (engine) => {
  let target: TestGateway;
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start();
    target = await startTestGateway(
      {
        metrics: { host: '127.0.0.1', port: 0 },
        callbacks: { allowPrivate: true, secret: undefined },
      },
      engine,
    );
  });
  afterAll(async () => {
    await target.close();
    await receiver.close();
  });

  const speak = async (input: string) => {
    const reply = await post(target.url, target.key, '/v1/audio/speech', { ...speech, input, stream: true });
    await reply.arrayBuffer();
    return reply.status;
  };
  /** Runs `action` and waits until each value has grown by the expected amount. */
  const expectGrowth = async (
    action: () => Promise<unknown>,
    expected: readonly (readonly [name: string, labels: Record<string, string>, by: number])[],
  ) => {
    const before = await scrape(target.operatorUrl);
    await action();
    await vi.waitFor(
      async () => {
        const after = await scrape(target.operatorUrl);
        for (const [name, labels, by] of expected) {
          const grown = after.sum(name, labels) - before.sum(name, labels);
          expect([name, labels, grown]).toEqual([name, labels, by]);
        }
      },
      { timeout: 15_000, interval: 50 },
    );
  };

  test('of a call: provider, first byte, quota and store', async () => {
    const operation = { unigate_operation: 'createSpeech' };
    const model = { unigate_model: 'voxa-v3-flash' };
    const store = {
      db_system_name: engine === 'sqlite' ? 'sqlite' : 'postgresql',
      db_operation_name: 'settleCalls',
    };
    await expectGrowth(
      () => speak('Twelve chars'),
      [
        ['http_server_request_duration_seconds_count', { ...operation, http_response_status_code: '200' }, 1],
        ['unigate_response_first_byte_duration_seconds_count', operation, 1],
        ['http_client_request_duration_seconds_count', { http_response_status_code: '200' }, 1],
        ['unigate_quota_reserved_total', model, 12],
        ['unigate_quota_charged_total', model, 12],
        ['unigate_quota_refunded_total', model, 0],
        ['db_client_operation_duration_seconds_count', store, 1],
      ],
    );
  });

  test('of a failed call: the error of the provider, and the refunded quota', async () => {
    const model = { unigate_model: 'voxa-v3-flash' };
    await expectGrowth(
      async () => expect(await speak('[[unavailable]]')).toBeGreaterThanOrEqual(500),
      [
        ['unigate_quota_reserved_total', model, 15],
        ['unigate_quota_charged_total', model, 0],
        ['unigate_quota_refunded_total', model, 15],
        ['http_client_request_duration_seconds_count', { error_type: '503' }, 1],
      ],
    );
  });

  test('of a task and its callback', { timeout: 30_000 }, async () => {
    const body = {
      model: 'epsilon-delta-2-0-fast-260128',
      content: [{ type: 'text', text: 'A paper boat.' }],
      resolution: '480p',
      duration: 4,
      callback_url: receiver.url('/done'),
    };
    const model = { unigate_model: body.model };
    const before = await scrape(target.operatorUrl);
    await expectGrowth(
      () => post(target.url, target.key, '/api/v3/contents/generations/tasks', body),
      [['unigate_task_duration_seconds_count', { unigate_task_state: 'completed' }, 1]],
    );
    const open = await scrape(target.operatorUrl);
    for (const name of ['unigate_task_poll_lag_seconds', 'unigate_delivery_lag_seconds'])
      expect(open.values(name)).toHaveLength(1);
    expect(open.values('unigate_task_open').map(({ labels }) => labels.unigate_task_state)).toEqual([
      'queued',
      'in_progress',
    ]);
    await vi.waitFor(async () => {
      const after = await scrape(target.operatorUrl);
      const grown = (name: string, labels = {}) => after.sum(name, labels) - before.sum(name, labels);
      expect(grown('unigate_delivery_closed_total', { unigate_delivery_outcome: 'delivered' })).toBe(
        receiver.seen.length,
      );
      expect(receiver.statesByTask()[receiver.seen[0]?.body.id ?? '']?.at(-1)).toBe('succeeded');
      expect(grown('unigate_quota_reserved_total', model)).toBe(
        grown('unigate_quota_charged_total', model) + grown('unigate_quota_refunded_total', model),
      );
    });
  });

  test('of an open and a closed socket', async () => {
    const operation = { unigate_operation: 'openRealtimeSocket' };
    const url = `${target.url}/api-ws/v1/realtime?model=alpha3-tts-flash-realtime`;
    await expectGrowth(async () => {
      const client = await connect(url, { key: target.key });
      await client.next(({ type }) => type === 'session.created');
      expect((await scrape(target.operatorUrl)).sum('unigate_socket_active', operation)).toBe(1);
      client.socket.close(1000);
      await client.closed;
    }, [
      ['unigate_socket_active', operation, 0],
      ['unigate_socket_duration_seconds_count', operation, 1],
      ['http_server_request_duration_seconds_count', { ...operation, http_response_status_code: '101' }, 1],
    ]);
  });

  test('have the label other only after a call with a model outside the catalog', async () => {
    const read = await scrape(target.operatorUrl);
    const labels = new Set(
      [...read.families.values()].flatMap(({ samples }) => samples.map(({ labels }) => labels.unigate_model)),
    );
    expect(labels).not.toContain('other');
  });

  test('include every metric of this engine, with the declared labels', async () => {
    const { families } = await scrape(target.operatorUrl);
    const ofOtherEngine = engine === 'sqlite' ? 'db.client.connection.' : 'unigate.store.commit.';
    // No channel of this gateway has a limit or costs.
    const unused = [
      'channel.limit',
      'channel.spending',
      'channel.refusals',
      'task.queue.duration',
      'quota.cost',
    ];
    const others = [ofOtherEngine, ...unused.map((name) => `unigate.${name}`)];
    const names = new Map(allMetrics.map(({ descriptor }) => [descriptor.name, descriptor.attributes ?? []]));
    const familyNameOf = (name: string) =>
      [...families.keys()].find((key) => key.startsWith(name.replaceAll('.', '_')));
    for (const [name, attributes] of names) {
      if (others.some((prefix) => name.startsWith(prefix))) continue;
      const family = families.get(familyNameOf(name) ?? '');
      expect([name, family?.samples.length ?? 0]).not.toEqual([name, 0]);
      const declared = attributes.map((one) => one.replaceAll('.', '_'));
      for (const { labels } of family?.samples ?? [])
        expect(Object.keys(labels).filter((label) => label !== 'le' && !declared.includes(label))).toEqual(
          [],
        );
    }
  });

  test('include the health of each channel', async () => {
    const read: Scrape = await scrape(target.operatorUrl);
    const channels = read.values('unigate_channel_healthy');
    expect(channels.map(({ labels }) => labels.unigate_channel)).toEqual([...target.gateway.channels.names]);
  });

  test('are returned without store metrics while the store fails', async () => {
    const { store } = target.gateway;
    const { report } = store;
    store.report = () => Promise.reject(new Error('unavailable'));
    try {
      // The last result of the store stays valid for some seconds.
      await vi.waitFor(
        async () => {
          const read = await scrape(target.operatorUrl);
          expect(read.values('unigate_task_open')).toEqual([]);
          expect(read.values('process_uptime_seconds')).toHaveLength(1);
        },
        { timeout: 15_000, interval: 250 },
      );
    } finally {
      store.report = report;
    }
    expect((await scrape(target.operatorUrl)).values('unigate_task_open')).toHaveLength(2);
  });
});

describe('a single-flight cache', () => {
  let now = 1;
  const cacheOf = (load: () => Promise<number>) =>
    new SingleFlightCache({ load, maxAgeMs: 10, timeoutMs: 5, now: () => now });

  test('loads once for concurrent callers and again after the maximum age', async () => {
    const load = vi.fn(async () => 7);
    const cache = cacheOf(load);
    expect(await Promise.all([cache.get(), cache.get(), cache.get()])).toEqual([7, 7, 7]);
    now += 10;
    expect(await cache.get()).toBe(7);
    expect(load).toHaveBeenCalledTimes(1);
    now += 1;
    await cache.get();
    expect(load).toHaveBeenCalledTimes(2);
  });

  test('returns undefined when loading fails or times out', async () => {
    expect(await cacheOf(() => Promise.reject(new Error('no'))).get()).toBeUndefined();
    const never = cacheOf(() => new Promise(() => {}));
    expect(await never.get()).toBeUndefined();
  });
});
