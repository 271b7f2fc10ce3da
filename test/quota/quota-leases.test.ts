import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type QuotaLease, QuotaLeases } from '../../server/quota/quota-leases.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { TestStore } from '../store/engines.ts';
import { disableToken, makeToken } from '../store/ledger.ts';
import { FakeChangeFeed } from '../support/fake-change-feed.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { yieldUntil } from '../support/yield-until.ts';

let testStore: TestStore;
let store: Store;
let gateways = 0;
beforeAll(async () => {
  testStore = await TestStore.make('sqlite');
  store = await testStore.open();
});
afterAll(() => testStore.remove());

/** The leases of one gateway, with a manual clock. */
class Fixture {
  readonly timers: ManualTimers;
  readonly membership = { isMember: true, epoch: 0 };
  readonly leases: QuotaLeases;
  readonly lines: string[] = [];
  /** Commands sent to the store. */
  readonly commands: string[] = [];
  /** Queries sent to the store. */
  reads = 0;
  /** Errors of queries and commands. */
  failure: { read?: Error; run?: Error } = {};
  readonly gateway = `gateway ${(gateways += 1)}`;

  private constructor(timers: ManualTimers, feed?: FakeChangeFeed) {
    this.timers = timers;
    const run: Store['run'] = (name, args) => {
      this.commands.push(name);
      return this.failure.run === undefined ? store.run(name, args) : Promise.reject(this.failure.run);
    };
    const read = store.read.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        this.reads += 1;
        if (this.failure.read !== undefined) throw this.failure.read;
        return result;
      },
    });
    this.leases = new QuotaLeases({
      store: { run, read, retrySignal: store.retrySignal, changeFeed: feed },
      gateway: this.gateway,
      membership: this.membership,
      logger: createLogger('error', [], { write: (line) => void this.lines.push(line) }),
      timers,
      clock: () => 1,
    });
  }

  static async make({
    feed,
    timers = new ManualTimers(),
  }: {
    feed?: FakeChangeFeed;
    timers?: ManualTimers;
  } = {}) {
    const fixture = new Fixture(timers, feed);
    await store.run('recordHeartbeat', { id: fixture.gateway, heartbeat: 0 });
    return fixture;
  }

  /** Uses the key and leases quota for it. */
  async lease(token: TokenRecord, amount: number): Promise<QuotaLease> {
    this.leases.recordUse(token.id, amount);
    expect(await this.leases.acquire(token.id, amount)).toBe('granted');
    return this.leases.reserve(token.id, amount) ?? expect.fail('no lease was granted');
  }

  /** Advances the clock while the key is used, so that its lease is not idle. */
  async use(token: TokenRecord, amount: number, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 10_000) {
      this.timers.advance(Math.min(10_000, left));
      this.leases.recordUse(token.id, amount);
      const lease = this.leases.reserve(token.id, amount);
      if (lease !== undefined) this.leases.release(lease, amount);
    }
    await this.leases.pollRecalls();
  }
}

/** Resolves when a timer is pending. */
const scheduled = (timers: ManualTimers) => vi.waitFor(() => expect(timers.pending).toBe(1), { interval: 1 });
/** Resolves when no return of the lease is running. */
async function returned(lease: QuotaLease): Promise<void> {
  while (lease.returning !== undefined) await lease.returning;
}

const leasedOf = (token: TokenRecord) =>
  store.read.selectFrom('quota_leases').selectAll().where('token_id', '=', token.id).execute();
const idsOf = ({ id }: TokenRecord) => new Set([id]);

describe('a lease', () => {
  test('covers four calls, or the recent spending', async () => {
    const fixture = await Fixture.make();
    const { leases } = fixture;
    const token = await makeToken(store, { remainQuota: 10_000 });
    expect(leases.recordUse(token.id, 100)).toBe(false);
    await leases.pollRecalls();
    expect(leases.recordUse(token.id, 100)).toBe(true);
    expect(await leases.acquire(token.id, 10)).toBe('granted');
    expect(await leasedOf(token)).toMatchObject([{ id: `${fixture.gateway}.1`, granted: 200 }]);
    expect(leases.reserve(token.id, 201)).toBeUndefined();
    const lease = leases.reserve(token.id, 150) ?? expect.fail('the lease is large enough');
    expect([leases.extend(lease, 51), leases.extend(lease, 50)]).toEqual([false, true]);
    expect(leases.reserve(token.id, 1)).toBeUndefined();
    // The lease grows.
    expect(await leases.acquire(token.id, 80)).toBe('granted');
    expect(await leasedOf(token)).toMatchObject([{ id: `${fixture.gateway}.1`, granted: 520 }]);
    expect(lease).toMatchObject({ remaining: 520, reserved: 200, openCalls: 1 });
    // The unused part of the reservation stays in the lease.
    expect(leases.charge(lease, 150, 40)).toBe(0);
    expect(lease).toMatchObject({ remaining: 480, reserved: 50 });
    const other = await makeToken(store, { remainQuota: 10_000 });
    expect(await leases.acquire(other.id, 10)).toBe('granted');
    expect(await leasedOf(other)).toMatchObject([{ id: `${fixture.gateway}.2`, granted: 40 }]);
    await leases.stop();
  });

  test('is requested once for concurrent calls', async () => {
    const { leases, commands } = await Fixture.make();
    const token = await makeToken(store, { remainQuota: 10_000 });
    const acquired = [1, 2, 3].map((amount) => leases.acquire(token.id, amount));
    // A pending grant is returned, too.
    await leases.stop();
    expect(await Promise.all(acquired)).toEqual(['granted', 'granted', 'granted']);
    expect(commands).toEqual(['grantLease', 'returnLease']);
    expect(await leasedOf(token)).toEqual([]);
  });

  test('is not requested for 1 s after a refusal, nor by a gateway that may have been removed', async () => {
    const { leases, commands, timers, membership } = await Fixture.make();
    const token = await makeToken(store, { remainQuota: 39 });
    const acquire = () => leases.acquire(token.id, 10);
    expect(await acquire()).toBe('scarce');
    timers.advance(999);
    expect(await acquire()).toBe('scarce');
    expect(commands).toHaveLength(1);
    timers.advance(1);
    expect(await acquire()).toBe('scarce');
    expect(commands).toHaveLength(2);
    timers.advance(1_000);
    membership.isMember = false;
    expect(await acquire()).toBe('scarce');
    membership.isMember = true;
    await leases.stop();
    expect(await acquire()).toBe('scarce');
    expect(commands).toHaveLength(2);
  });

  test('that is recalled while it grows is replaced by a new one', async () => {
    const fixture = await Fixture.make();
    const { leases } = fixture;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await fixture.lease(token, 10);
    const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };
    await store.run('updateToken', { id: token.id, set: { name: 'another' }, change });
    expect(await leases.acquire(token.id, 100)).toBe('granted');
    expect(lease.isDraining).toBe(true);
    expect([leases.reserve(token.id, 1), leases.extend(lease, 1)]).toEqual([undefined, false]);
    expect(await leases.acquire(token.id, 100)).toBe('granted');
    expect(leases.reserve(token.id, 1)?.id).toBe(`${fixture.gateway}.2`);
    expect(leases.charge(lease, 10, 4)).toBe(6);
    await leases.stop();
  });

  test('is returned after 30 s without use', async () => {
    const fixture = await Fixture.make();
    const { leases, timers } = fixture;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await fixture.lease(token, 10);
    timers.advance(20_000);
    expect(leases.extend(lease, 1)).toBe(true);
    timers.advance(20_000);
    await leases.pollRecalls();
    leases.reserve(token.id, 1);
    for (const [ms, draining] of [
      [29_999, false],
      [1, true],
    ] as const) {
      timers.advance(ms);
      leases.recordUse(token.id, 10);
      await leases.pollRecalls();
      expect(lease.isDraining).toBe(draining);
    }
    await lease.returning;
    // The reserved part stays until its settlement.
    expect(await leasedOf(token)).toMatchObject([{ remaining: 12, draining: 1 }]);
    leases.release(lease, 12, { used: 12 });
    leases.closeCall(lease, false);
    await lease.returning;
    expect(await leasedOf(token)).toEqual([]);
  });

  test('is returned when it is more than eight times as large as the recent spending', async () => {
    const fixture = await Fixture.make();
    const { leases } = fixture;
    const token = await makeToken(store, { remainQuota: 100_000 });
    const lease = await fixture.lease(token, 200);
    leases.release(lease, 200);
    expect(lease.remaining).toBe(800);
    // 25 every 10 s, over two windows of 30 s.
    await fixture.use(token, 25, 90_000);
    expect(lease.isDraining).toBe(false);
    // The reserved part is in use.
    leases.reserve(token.id, 700);
    await fixture.use(token, 5, 90_000);
    expect(lease.isDraining).toBe(false);
    leases.release(lease, 700);
    await leases.pollRecalls();
    expect(lease.isDraining).toBe(true);
    await leases.stop();
    expect(await leasedOf(token)).toEqual([]);
  });

  test('of an earlier membership epoch accepts no reservation', async () => {
    const fixture = await Fixture.make();
    const { leases, membership } = fixture;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await fixture.lease(token, 10);
    membership.isMember = false;
    expect([leases.reserve(token.id, 1), leases.extend(lease, 1), lease.isDraining]).toEqual([
      undefined,
      false,
      false,
    ]);
    membership.isMember = true;
    expect(leases.extend(lease, 1)).toBe(true);
    membership.epoch += 1;
    expect([leases.reserve(token.id, 1), lease.isDraining]).toEqual([undefined, true]);
    leases.release(lease, 11);
    await leases.stop();
    expect(await leasedOf(token)).toEqual([]);
  });

  test('returns quota that becomes free during a return, and all of it at the end', async () => {
    const fixture = await Fixture.make();
    const { leases } = fixture;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await fixture.lease(token, 10);
    leases.reserve(token.id, 7);
    leases.reserve(token.id, 5);
    await disableToken(store, token);
    await leases.pollRecalls();
    expect(lease.returning).toBeDefined();
    leases.release(lease, 10);
    await returned(lease);
    expect(await leasedOf(token)).toMatchObject([{ remaining: 12, draining: 1 }]);
    leases.release(lease, 7);
    expect(lease.returning).toBeDefined();
    leases.release(lease, 5, { used: 5 });
    await returned(lease);
    expect(await leasedOf(token)).toEqual([]);
  });

  test('that no longer exists is not returned or polled again', async () => {
    const fixture = await Fixture.make();
    const { leases, membership } = fixture;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await fixture.lease(token, 10);
    // The other gateways do this when they remove a gateway.
    await store.run('returnLease', { id: lease.id, amount: null, now: 1 });
    membership.epoch += 1;
    expect(leases.reserve(token.id, 1)).toBeUndefined();
    await returned(lease);
    leases.release(lease, 10);
    const { reads } = fixture;
    await leases.pollRecalls();
    await leases.stop();
    expect([fixture.commands, fixture.reads - reads]).toEqual([['grantLease', 'returnLease'], 0]);
  });

  test('that the store refuses to take back is logged, and returned with its last reservation', async () => {
    const fixture = await Fixture.make();
    const { leases, lines, failure } = fixture;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await fixture.lease(token, 10);
    failure.run = new Error('broken');
    await disableToken(store, token);
    await leases.pollRecalls();
    await lease.returning;
    expect([lines.length, lease.isDraining]).toEqual([1, true]);
    failure.run = undefined;
    expect(await leasedOf(token)).toMatchObject([{ remaining: 40, draining: 0 }]);
    leases.release(lease, 10);
    await lease.returning;
    expect(await leasedOf(token)).toEqual([]);
  });
});

describe('leased quota of a key', () => {
  /** Two gateways with one clock. One of them has leased 40 of 200. */
  async function makeTwo() {
    const timers = new ManualTimers();
    const [here, there] = [await Fixture.make({ timers }), await Fixture.make({ timers })];
    const token = await makeToken(store, { remainQuota: 200 });
    const lease = await there.lease(token, 10);
    there.leases.release(lease, 10);
    return { timers, here, there, token, lease };
  }
  const recalls = ({ commands }: Fixture) => commands.filter((name) => name === 'recallLeases').length;

  test('is not recalled when it would not be enough, or the balance is', async () => {
    const { here, token } = await makeTwo();
    expect(await here.leases.reclaim(token.id, 201, true)).toBe(false);
    expect(await here.leases.reclaim(token.id, 160, false)).toBe(true);
    expect(await here.leases.reclaim(-1, 0, false)).toBe(false);
    expect(recalls(here)).toBe(0);
  });

  test('is returned by this gateway first, without a recall', async () => {
    const { here, there, token } = await makeTwo();
    await there.leases.stop();
    const own = here.leases.acquire(token.id, 10);
    expect(await here.leases.reclaim(token.id, 200, true)).toBe(true);
    expect(await own).toBe('granted');
    expect(here.commands).toEqual(['grantLease', 'returnLease']);
    // Nothing is leased for 1 s.
    expect(await here.leases.acquire(token.id, 1)).toBe('scarce');
    expect(here.commands).toHaveLength(2);
  });

  test('is awaited until all gateways have responded, once for concurrent calls', async () => {
    const { timers, here, there, token, lease } = await makeTwo();
    // A fully reserved lease is a response, too.
    there.leases.reserve(token.id, 40);
    let done = false;
    const both = [200, 190].map((amount) => here.leases.reclaim(token.id, amount, false));
    void both[0]?.then(() => {
      done = true;
    });
    await scheduled(timers);
    const { reads } = here;
    timers.advance(49);
    expect(timers.pending).toBe(1);
    timers.advance(1);
    await scheduled(timers);
    expect([here.reads, done]).toEqual([reads + 1, false]);
    await there.leases.pollRecalls();
    expect(lease.isDraining).toBe(true);
    await lease.returning;
    timers.advance(50);
    expect(await Promise.all(both)).toEqual([true, true]);
    expect(recalls(here)).toBe(1);
    expect(timers.pending).toBe(0);
  });

  test('is awaited for at most 2 s', async () => {
    const { timers, here, token } = await makeTwo();
    const reclaimed = here.leases.reclaim(token.id, 160, true);
    for (let ms = 0; ms < 2_000; ms += 50) {
      await scheduled(timers);
      timers.advance(50);
    }
    expect(await reclaimed).toBe(true);
    expect(recalls(here)).toBe(1);
  });

  test('is not awaited by a gateway that stops', async () => {
    const { timers, here, token } = await makeTwo();
    const reclaimed = here.leases.reclaim(token.id, 200, false);
    await scheduled(timers);
    await here.leases.stop();
    timers.advance(50);
    expect(await reclaimed).toBe(true);
  });
});

describe('polls for recalled leases', () => {
  /** Advances the clock and waits until a due poll has ended. */
  const pass = async ({ timers }: Fixture, ms: number) => {
    timers.advance(ms);
    await yieldUntil(() => timers.pending === 1);
  };

  test('run four times a second while a lease exists, and failures are logged once', async () => {
    const fixture = await Fixture.make();
    const { leases, lines } = fixture;
    const token = await makeToken(store, { remainQuota: 10_000 });
    leases.start();
    await pass(fixture, 250);
    expect(fixture.reads).toBe(0);
    const lease = await fixture.lease(token, 10);
    await pass(fixture, 249);
    expect(fixture.reads).toBe(0);
    await pass(fixture, 1);
    expect(fixture.reads).toBe(1);
    for (const [failure, logged] of [
      [new Error('broken'), 1],
      [new Error('broken'), 1],
      [undefined, 1],
      [new Error('broken'), 2],
      [undefined, 2],
    ] as const) {
      fixture.failure.read = failure;
      await pass(fixture, 250);
      expect(lines).toHaveLength(logged);
    }
    expect(lease.isDraining).toBe(false);
    await disableToken(store, token);
    await pass(fixture, 250);
    expect(lease.isDraining).toBe(true);
    leases.release(lease, 10);
    await leases.stop();
    expect(fixture.timers.pending).toBe(0);
  });

  test('are valid for 2 s with a change feed, until it disconnects', async () => {
    const feed = new FakeChangeFeed();
    const fixture = await Fixture.make({ feed });
    const token = await makeToken(store, { remainQuota: 10_000 });
    fixture.leases.start();
    const begun = fixture.timers.now;
    const lease = await fixture.lease(token, 10);
    await pass(fixture, 250);
    for (let poll = 1; poll < 8; poll += 1) await pass(fixture, 250);
    expect(fixture.reads).toBe(1);
    await pass(fixture, 250);
    expect(fixture.reads).toBe(2);
    feed.epoch = 2;
    await pass(fixture, 250);
    expect(fixture.reads).toBe(3);
    feed.epoch = undefined;
    await pass(fixture, 250);
    await pass(fixture, 250);
    expect(fixture.reads).toBe(5);
    // An idle lease is returned between two polls, too.
    feed.epoch = 3;
    // An unknown lease is polled for again.
    const gone = await makeToken(store, { remainQuota: 10_000 });
    const figures = { grow: false, need: 1, want: 1, now: 1 };
    await store.run('grantLease', { ...figures, id: 'unknown', tokenId: gone.id, gateway: fixture.gateway });
    await disableToken(store, gone);
    await pass(fixture, 250);
    await pass(fixture, 250);
    expect(fixture.reads).toBe(7);
    await store.run('returnLease', { id: 'unknown', amount: null, now: 1 });
    fixture.timers.now = begun + 28_000;
    await pass(fixture, 250);
    fixture.timers.now = begun + 29_500;
    await pass(fixture, 250);
    expect([fixture.reads, lease.isDraining]).toEqual([8, false]);
    await pass(fixture, 250);
    expect([fixture.reads, lease.isDraining]).toEqual([8, true]);
    fixture.leases.release(lease, 10);
    await fixture.leases.stop();
  });

  test('run at once on a recall, and again while its lease is unknown', async () => {
    const feed = new FakeChangeFeed();
    const fixture = await Fixture.make({ feed });
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await fixture.lease(token, 10);
    const readsAfter = async (changes: Parameters<FakeChangeFeed['announce']>[0]) => {
      const { reads } = fixture;
      feed.announce(changes);
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      return fixture.reads - reads;
    };
    expect(await readsAfter({ keyIds: new Set([-1]), recalledKeyIds: new Set([-1]) })).toBe(0);
    expect(await readsAfter({ userIds: new Set([-1]) })).toBe(1);
    expect(await readsAfter({ overflow: true })).toBe(1);
    expect(await readsAfter({ recalledKeyIds: idsOf(token) })).toBe(1);
    expect(lease.isDraining).toBe(false);
    await disableToken(store, token);
    expect(await readsAfter({ keyIds: idsOf(token) })).toBe(1);
    expect(lease.isDraining).toBe(true);
    fixture.leases.release(lease, 10);
    await fixture.leases.stop();
  });
});
