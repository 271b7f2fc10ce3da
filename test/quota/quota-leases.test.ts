import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type QuotaLease, QuotaLeases } from '../../server/quota/quota-leases.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { disableToken, makeToken } from '../store/books.ts';
import { TestStore } from '../store/engines.ts';
import { Heard } from '../support/heard.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { until } from '../support/turns.ts';

let testStore: TestStore;
let store: Store;
let gateways = 0;
beforeAll(async () => {
  testStore = await TestStore.make('sqlite');
  store = await testStore.open();
});
afterAll(() => testStore.remove());

/** What one gateway has leased, by a clock that the test moves. */
class Rig {
  readonly timers: ManualTimers;
  readonly membership = { isMember: true, epoch: 0 };
  readonly leases: QuotaLeases;
  readonly lines: string[] = [];
  /** The commands that the store was given. */
  readonly commands: string[] = [];
  /** How many questions it was asked. */
  reads = 0;
  /** Thrown instead of an answer. */
  failure: { read?: Error; run?: Error } = {};
  readonly gateway = `gateway ${(gateways += 1)}`;

  private constructor(timers: ManualTimers, hearing?: Heard) {
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
      store: { run, read, over: store.over, hearing },
      gateway: this.gateway,
      membership: this.membership,
      logger: createLogger('error', [], { write: (line) => void this.lines.push(line) }),
      timers,
      clock: () => 1,
    });
  }

  static async make({
    hearing,
    timers = new ManualTimers(),
  }: {
    hearing?: Heard;
    timers?: ManualTimers;
  } = {}) {
    const rig = new Rig(timers, hearing);
    await store.run('beat', { id: rig.gateway, beat: 0 });
    return rig;
  }

  /** Has the key used, and leases for it. */
  async lease(token: TokenRecord, amount: number): Promise<QuotaLease> {
    this.leases.recordUse(token.id, amount);
    expect(await this.leases.acquire(token.id, amount)).toBe('granted');
    return this.leases.reserve(token.id, amount) ?? expect.fail('nothing was leased');
  }

  /** Lets time pass while the key is used so often that its lease is not idle. */
  async use(token: TokenRecord, amount: number, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 10_000) {
      this.timers.advance(Math.min(10_000, left));
      this.leases.recordUse(token.id, amount);
      const lease = this.leases.reserve(token.id, amount);
      if (lease !== undefined) this.leases.cancel(lease, amount);
    }
    await this.leases.pollRecalls();
  }
}

/** Resolves when somebody waits for the clock. */
const planned = (timers: ManualTimers) => vi.waitFor(() => expect(timers.pending).toBe(1), { interval: 1 });
/** Resolves when nothing of a lease is on its way back. */
async function returned(lease: QuotaLease): Promise<void> {
  while (lease.returning !== undefined) await lease.returning;
}

const leasedOf = (token: TokenRecord) =>
  store.read.selectFrom('quota_leases').selectAll().where('token_id', '=', token.id).execute();
const news = ({ id }: TokenRecord) => new Set([id]);

describe('a lease', () => {
  test('has enough for four such calls, or for as much as was spent lately', async () => {
    const rig = await Rig.make();
    const { leases } = rig;
    const token = await makeToken(store, { remainQuota: 10_000 });
    expect(leases.recordUse(token.id, 100)).toBe(false);
    await leases.pollRecalls();
    expect(leases.recordUse(token.id, 100)).toBe(true);
    expect(await leases.acquire(token.id, 10)).toBe('granted');
    expect(await leasedOf(token)).toMatchObject([{ id: `${rig.gateway}.1`, granted: 200 }]);
    expect(leases.reserve(token.id, 201)).toBeUndefined();
    const lease = leases.reserve(token.id, 150) ?? expect.fail('it has enough');
    expect([leases.extend(lease, 51), leases.extend(lease, 50)]).toEqual([false, true]);
    expect(leases.reserve(token.id, 1)).toBeUndefined();
    // It grows.
    expect(await leases.acquire(token.id, 80)).toBe('granted');
    expect(await leasedOf(token)).toMatchObject([{ id: `${rig.gateway}.1`, granted: 520 }]);
    expect(lease).toMatchObject({ remaining: 520, reserved: 200, openCalls: 1 });
    // What a settled call did not cost stays in it.
    expect(leases.charge(lease, 150, 40)).toBe(0);
    expect(lease).toMatchObject({ remaining: 480, reserved: 50 });
    const other = await makeToken(store, { remainQuota: 10_000 });
    expect(await leases.acquire(other.id, 10)).toBe('granted');
    expect(await leasedOf(other)).toMatchObject([{ id: `${rig.gateway}.2`, granted: 40 }]);
    await leases.stop();
  });

  test('is asked for once, however many wait for it', async () => {
    const { leases, commands } = await Rig.make();
    const token = await makeToken(store, { remainQuota: 10_000 });
    const wishes = [1, 2, 3].map((amount) => leases.acquire(token.id, amount));
    // What is still to come is given back with all else.
    await leases.stop();
    expect(await Promise.all(wishes)).toEqual(['granted', 'granted', 'granted']);
    expect(commands).toEqual(['grantLease', 'returnLease']);
    expect(await leasedOf(token)).toEqual([]);
  });

  test('is not asked for within a second after there was too little, nor by who may be taken for gone', async () => {
    const { leases, commands, timers, membership } = await Rig.make();
    const token = await makeToken(store, { remainQuota: 39 });
    const wish = () => leases.acquire(token.id, 10);
    expect(await wish()).toBe('scarce');
    timers.advance(999);
    expect(await wish()).toBe('scarce');
    expect(commands).toHaveLength(1);
    timers.advance(1);
    expect(await wish()).toBe('scarce');
    expect(commands).toHaveLength(2);
    timers.advance(1_000);
    membership.isMember = false;
    expect(await wish()).toBe('scarce');
    membership.isMember = true;
    await leases.stop();
    expect(await wish()).toBe('scarce');
    expect(commands).toHaveLength(2);
  });

  test('that is recalled while it grows is followed by another one', async () => {
    const rig = await Rig.make();
    const { leases } = rig;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await rig.lease(token, 10);
    const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };
    await store.run('updateToken', { id: token.id, set: { name: 'another' }, change });
    expect(await leases.acquire(token.id, 100)).toBe('granted');
    expect(lease.isDraining).toBe(true);
    expect([leases.reserve(token.id, 1), leases.extend(lease, 1)]).toEqual([undefined, false]);
    expect(await leases.acquire(token.id, 100)).toBe('granted');
    expect(leases.reserve(token.id, 1)?.id).toBe(`${rig.gateway}.2`);
    expect(leases.charge(lease, 10, 4)).toBe(6);
    await leases.stop();
  });

  test('goes back when it was not used for 30 seconds', async () => {
    const rig = await Rig.make();
    const { leases, timers } = rig;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await rig.lease(token, 10);
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
    // What is held of it stays until it is settled.
    expect(await leasedOf(token)).toMatchObject([{ remaining: 12, draining: 1 }]);
    leases.moveToLedger(lease, 12);
    leases.closeCall(lease, false);
    await lease.returning;
    expect(await leasedOf(token)).toEqual([]);
  });

  test('goes back when a rush is over, and it is more than eight times as large as what is spent', async () => {
    const rig = await Rig.make();
    const { leases } = rig;
    const token = await makeToken(store, { remainQuota: 100_000 });
    const lease = await rig.lease(token, 200);
    leases.cancel(lease, 200);
    expect(lease.remaining).toBe(800);
    // Of two windows of 30 seconds, all is used in steps of ten seconds.
    await rig.use(token, 25, 90_000);
    expect(lease.isDraining).toBe(false);
    // What is held is needed.
    leases.reserve(token.id, 700);
    await rig.use(token, 5, 90_000);
    expect(lease.isDraining).toBe(false);
    leases.cancel(lease, 700);
    await leases.pollRecalls();
    expect(lease.isDraining).toBe(true);
    await leases.stop();
    expect(await leasedOf(token)).toEqual([]);
  });

  test('of a time before its gateway was taken for gone holds nothing more', async () => {
    const rig = await Rig.make();
    const { leases, membership } = rig;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await rig.lease(token, 10);
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
    leases.cancel(lease, 11);
    await leases.stop();
    expect(await leasedOf(token)).toEqual([]);
  });

  test('gives back what becomes free while some of it goes back, and in the end all', async () => {
    const rig = await Rig.make();
    const { leases } = rig;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await rig.lease(token, 10);
    leases.reserve(token.id, 7);
    leases.reserve(token.id, 5);
    await disableToken(store, token);
    await leases.pollRecalls();
    expect(lease.returning).toBeDefined();
    leases.cancel(lease, 10);
    await returned(lease);
    expect(await leasedOf(token)).toMatchObject([{ remaining: 12, draining: 1 }]);
    leases.cancel(lease, 7);
    expect(lease.returning).toBeDefined();
    leases.moveToLedger(lease, 5);
    await returned(lease);
    expect(await leasedOf(token)).toEqual([]);
  });

  test('that is not there any more is given back and looked after no further', async () => {
    const rig = await Rig.make();
    const { leases, membership } = rig;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await rig.lease(token, 10);
    // As those do who take its gateway for gone.
    await store.run('returnLease', { id: lease.id, amount: null, now: 1 });
    membership.epoch += 1;
    expect(leases.reserve(token.id, 1)).toBeUndefined();
    await returned(lease);
    leases.cancel(lease, 10);
    const { reads } = rig;
    await leases.pollRecalls();
    await leases.stop();
    expect([rig.commands, rig.reads - reads]).toEqual([['grantLease', 'returnLease'], 0]);
  });

  test('that the store does not take back is told of, and goes back with its last hold', async () => {
    const rig = await Rig.make();
    const { leases, lines, failure } = rig;
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await rig.lease(token, 10);
    failure.run = new Error('broken');
    await disableToken(store, token);
    await leases.pollRecalls();
    await lease.returning;
    expect([lines.length, lease.isDraining]).toEqual([1, true]);
    failure.run = undefined;
    expect(await leasedOf(token)).toMatchObject([{ remaining: 40, draining: 0 }]);
    leases.cancel(lease, 10);
    await lease.returning;
    expect(await leasedOf(token)).toEqual([]);
  });
});

describe('what gateways have of a key', () => {
  /** Two gateways by one clock, of which one has leased 40 of the 200 that there are. */
  async function makeTwo() {
    const timers = new ManualTimers();
    const [here, there] = [await Rig.make({ timers }), await Rig.make({ timers })];
    const token = await makeToken(store, { remainQuota: 200 });
    const lease = await there.lease(token, 10);
    there.leases.cancel(lease, 10);
    return { timers, here, there, token, lease };
  }
  const recalls = ({ commands }: Rig) => commands.filter((name) => name === 'recallLeases').length;

  test('is not asked for when all of it would not do, or the balance does', async () => {
    const { here, token } = await makeTwo();
    expect(await here.leases.reclaim(token.id, 201, true)).toBe(false);
    expect(await here.leases.reclaim(token.id, 160, false)).toBe(true);
    expect(await here.leases.reclaim(-1, 0, false)).toBe(false);
    expect(recalls(here)).toBe(0);
  });

  test('is brought back, its own first, for which nobody is asked', async () => {
    const { here, there, token } = await makeTwo();
    await there.leases.stop();
    const own = here.leases.acquire(token.id, 10);
    expect(await here.leases.reclaim(token.id, 200, true)).toBe(true);
    expect(await own).toBe('granted');
    expect(here.commands).toEqual(['grantLease', 'returnLease']);
    // And for a second nothing is leased.
    expect(await here.leases.acquire(token.id, 1)).toBe('scarce');
    expect(here.commands).toHaveLength(2);
  });

  test('is waited for until all have answered, and by all who need it at once', async () => {
    const { timers, here, there, token, lease } = await makeTwo();
    // An answer it is, too, that all of a lease is held.
    there.leases.reserve(token.id, 40);
    let done = false;
    const both = [200, 190].map((amount) => here.leases.reclaim(token.id, amount, false));
    void both[0]?.then(() => {
      done = true;
    });
    await planned(timers);
    const { reads } = here;
    timers.advance(49);
    expect(timers.pending).toBe(1);
    timers.advance(1);
    await planned(timers);
    expect([here.reads, done]).toEqual([reads + 1, false]);
    await there.leases.pollRecalls();
    expect(lease.isDraining).toBe(true);
    await lease.returning;
    timers.advance(50);
    expect(await Promise.all(both)).toEqual([true, true]);
    expect(recalls(here)).toBe(1);
    expect(timers.pending).toBe(0);
  });

  test('is not waited for longer than two seconds, though the balance seemed to do', async () => {
    const { timers, here, token } = await makeTwo();
    const reclaimed = here.leases.reclaim(token.id, 160, true);
    for (let ms = 0; ms < 2_000; ms += 50) {
      await planned(timers);
      timers.advance(50);
    }
    expect(await reclaimed).toBe(true);
    expect(recalls(here)).toBe(1);
  });

  test('is not waited for by a gateway that stops', async () => {
    const { timers, here, token } = await makeTwo();
    const reclaimed = here.leases.reclaim(token.id, 200, false);
    await planned(timers);
    await here.leases.stop();
    timers.advance(50);
    expect(await reclaimed).toBe(true);
  });
});

describe('looks whether leases are recalled', () => {
  /** Lets time pass, and a round that is due come to its end. */
  const pass = async ({ timers }: Rig, ms: number) => {
    timers.advance(ms);
    await until(() => timers.pending === 1);
  };

  test('are made four times a second while something is leased, and failing ones told of once', async () => {
    const rig = await Rig.make();
    const { leases, lines } = rig;
    const token = await makeToken(store, { remainQuota: 10_000 });
    leases.start();
    await pass(rig, 250);
    expect(rig.reads).toBe(0);
    const lease = await rig.lease(token, 10);
    await pass(rig, 249);
    expect(rig.reads).toBe(0);
    await pass(rig, 1);
    expect(rig.reads).toBe(1);
    for (const [failure, told] of [
      [new Error('broken'), 1],
      [new Error('broken'), 1],
      [undefined, 1],
      [new Error('broken'), 2],
      [undefined, 2],
    ] as const) {
      rig.failure.read = failure;
      await pass(rig, 250);
      expect(lines).toHaveLength(told);
    }
    expect(lease.isDraining).toBe(false);
    await disableToken(store, token);
    await pass(rig, 250);
    expect(lease.isDraining).toBe(true);
    leases.cancel(lease, 10);
    await leases.stop();
    expect(rig.timers.pending).toBe(0);
  });

  test('are good for two seconds where recalls are heard of, and as long as none is missed', async () => {
    const hearing = new Heard();
    const rig = await Rig.make({ hearing });
    const token = await makeToken(store, { remainQuota: 10_000 });
    rig.leases.start();
    const begun = rig.timers.now;
    const lease = await rig.lease(token, 10);
    await pass(rig, 250);
    for (let round = 1; round < 8; round += 1) await pass(rig, 250);
    expect(rig.reads).toBe(1);
    await pass(rig, 250);
    expect(rig.reads).toBe(2);
    hearing.era = 2;
    await pass(rig, 250);
    expect(rig.reads).toBe(3);
    hearing.era = undefined;
    await pass(rig, 250);
    await pass(rig, 250);
    expect(rig.reads).toBe(5);
    // A lease that is not used goes back between two looks, too.
    hearing.era = 3;
    // One that this gateway does not know yet is looked for again.
    const gone = await makeToken(store, { remainQuota: 10_000 });
    const figures = { grow: false, need: 1, want: 1, now: 1 };
    await store.run('grantLease', { ...figures, id: 'unknown', tokenId: gone.id, gateway: rig.gateway });
    await disableToken(store, gone);
    await pass(rig, 250);
    await pass(rig, 250);
    expect(rig.reads).toBe(7);
    await store.run('returnLease', { id: 'unknown', amount: null, now: 1 });
    rig.timers.now = begun + 28_000;
    await pass(rig, 250);
    rig.timers.now = begun + 29_500;
    await pass(rig, 250);
    expect([rig.reads, lease.isDraining]).toEqual([8, false]);
    await pass(rig, 250);
    expect([rig.reads, lease.isDraining]).toEqual([8, true]);
    rig.leases.cancel(lease, 10);
    await rig.leases.stop();
  });

  test('are made at once when a recall is heard of, and again while it leads to nothing known', async () => {
    const hearing = new Heard();
    const rig = await Rig.make({ hearing });
    const token = await makeToken(store, { remainQuota: 10_000 });
    const lease = await rig.lease(token, 10);
    const heard = async (told: Parameters<Heard['tell']>[0]) => {
      const { reads } = rig;
      hearing.tell(told);
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      return rig.reads - reads;
    };
    expect(await heard({ tokens: new Set([-1]), leases: new Set([-1]) })).toBe(0);
    expect(await heard({ users: new Set([-1]) })).toBe(1);
    expect(await heard({ flood: true })).toBe(1);
    expect(await heard({ leases: news(token) })).toBe(1);
    expect(lease.isDraining).toBe(false);
    await disableToken(store, token);
    expect(await heard({ tokens: news(token) })).toBe(1);
    expect(lease.isDraining).toBe(true);
    rig.leases.cancel(lease, 10);
    await rig.leases.stop();
  });
});
