import { beforeEach, describe, expect, test } from 'vitest';
import { Channels } from '../../server/channels/channels.ts';
import { Health } from '../../server/channels/health.ts';
import { HealthSharing } from '../../server/channels/health-sharing.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { engines, TestStore } from '../store/engines.ts';
import { channelTo } from '../support/upstream.ts';
import { TestClock } from '../tasks/test-clock.ts';

let now = 0;
let health: Health;
beforeEach(() => {
  now = 1_000_000;
  health = new Health(() => now);
});

/** A cool-down of another gateway that lasts 5 s. */
const report = (id = 'other 1') => ({ id, until: now + 5_000, reason: 'key_refused' as const });

describe('a cool-down of another gateway', () => {
  test('allows one request at a time, whose failure starts a cool-down here', () => {
    health.receiveReports([report()]);
    expect([health.state, health.isHealthy]).toEqual(['probing', false]);
    const probe = health.admit();
    expect(probe).toBeDefined();
    expect(health.admit()).toBeUndefined();
    probe?.fail('unreachable');
    expect(health.state).toBe('resting');
  });

  test('is refuted by a success here, until there is another one', () => {
    health.receiveReports([report()]);
    health.admit()?.succeed();
    expect(health.isHealthy).toBe(true);
    health.receiveReports([report()]);
    expect(health.isHealthy).toBe(true);
    now += 3_000;
    health.receiveReports([report('other 2')]);
    expect(health.isHealthy).toBe(false);
  });

  test('is not believed while requests of this gateway succeed', () => {
    health.startAttempt().succeed();
    now += 1_000;
    health.receiveReports([report()]);
    expect([health.state, health.isHealthy]).toEqual(['healthy', true]);
  });

  test('ends with its time, with the other gateway, and with a reset', () => {
    health.receiveReports([report()]);
    now += 5_000;
    expect(health.state).toBe('healthy');
    health.receiveReports([report('other 2')]);
    health.receiveReports([]);
    expect(health.state).toBe('healthy');
    const third = report('other 3');
    health.receiveReports([third]);
    health.reset();
    health.receiveReports([third]);
    expect(health.state).toBe('healthy');
  });

  test('allows few requests if no other channel is available', () => {
    health.receiveReports([report()]);
    const forced = Array.from({ length: 20 }, () => health.forceAttempt()).filter(Boolean);
    expect(forced).toHaveLength(8);
  });
});

describe.runIf(engines.includes('postgres'))('two gateways', () => {
  const logger = createLogger('silent');

  async function withNodes(
    use: (nodes: ReturnType<typeof node>[], store: Store) => Promise<void>,
  ): Promise<void> {
    const testStore = await TestStore.make('postgres');
    try {
      const store = await testStore.open();
      for (const id of ['one', 'two']) await store.run('recordHeartbeat', { id, heartbeat: 1 });
      await use([node(store, 'one'), node(store, 'two')], store);
    } finally {
      await testStore.remove();
    }
  }

  function node(store: Store, gateway: string) {
    const clock = new TestClock(1_000_000 + gateway.length);
    const channels = new Channels([channelTo('http://127.0.0.1:9')], clock.monotonic);
    const sharing = new HealthSharing({ store, gateway, channels, timers: clock, logger });
    const [channel] = channels.all;
    if (channel === undefined) throw new Error('there is no channel');
    return { clock, sharing, health: channel.health };
  }

  const failThrice = ({ clock, health: failing }: ReturnType<typeof node>) => {
    for (let episode = 0; episode < 3; episode += 1) {
      clock.jump(1_000);
      failing.startAttempt().fail('server_error');
    }
  };

  test('share cool-downs, and one that recovers takes its report back', () =>
    withNodes(async ([one, two]) => {
      if (one === undefined || two === undefined) throw new Error('there is no node');
      failThrice(one);
      await one.sharing.refresh();
      await two.sharing.refresh();
      expect([one.health.state, two.health.state]).toEqual(['resting', 'probing']);
      two.health.admit()?.fail('server_error');
      expect(two.health.state).toBe('resting');
      two.health.reset();
      one.health.reset();
      await one.sharing.refresh();
      await two.sharing.refresh();
      expect([one.health.state, two.health.state]).toEqual(['healthy', 'healthy']);
    }));

  test('share a refused key with its reason', () =>
    withNodes(async ([one, two]) => {
      if (one === undefined || two === undefined) throw new Error('there is no node');
      one.health.startAttempt({ user: 1 }).fail('key_refused');
      await one.sharing.refresh();
      await two.sharing.refresh();
      expect([two.health.state, two.health.unhealthyReason]).toEqual(['probing', 'key_refused']);
      const probe = two.health.admit({ user: 1 });
      expect(two.health.admit({ user: 1 })).toBeUndefined();
      probe?.fail('key_refused');
      expect([two.health.state, two.health.unhealthyReason]).toEqual(['resting', 'key_refused']);
      one.clock.jump(5_000);
      one.health.admit({ user: 1 })?.succeed();
      await one.sharing.refresh();
      two.clock.jump(5_000);
      two.health.admit({ user: 1 })?.succeed();
      await two.sharing.refresh();
      expect([one.health.state, two.health.state]).toEqual(['healthy', 'healthy']);
    }));

  test('ignore one that is offline itself, after one request', () =>
    withNodes(async ([one, two]) => {
      if (one === undefined || two === undefined) throw new Error('there is no node');
      failThrice(one);
      await one.sharing.refresh();
      await two.sharing.refresh();
      two.health.admit()?.succeed();
      await two.sharing.refresh();
      expect(two.health.state).toBe('healthy');
      await two.sharing.refresh();
      expect([two.health.isHealthy, one.health.state]).toEqual([true, 'resting']);
    }));

  test('ignore a lost one', () =>
    withNodes(async ([one, two], store) => {
      if (one === undefined || two === undefined) throw new Error('there is no node');
      failThrice(one);
      await one.sharing.refresh();
      await store.run('removeGateway', { id: 'one', heartbeat: null });
      await two.sharing.refresh();
      expect(two.health.state).toBe('healthy');
    }));
});
