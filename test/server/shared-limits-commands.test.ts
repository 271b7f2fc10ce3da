import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RateLimiter } from '../../server/keys/rate-limiter.ts';
import { SharedConcurrency } from '../../server/keys/shared-concurrency.ts';
import { SharedRequests } from '../../server/keys/shared-requests.ts';
import { SocketLimiter } from '../../server/keys/socket-limiter.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { Store } from '../../server/store/store.ts';
import { TestClock } from '../tasks/test-clock.ts';

/** A command that a gateway sent. The store's side is tested in shared-limits and shared-sockets. */
type SentCommand = { command: string; args: unknown };

let clock: TestClock;
let sent: SentCommand[];
let respond: (args: never) => unknown;

beforeEach(() => {
  clock = new TestClock(0);
  sent = [];
});

const run = (async (command: string, args: never) => {
  // A copy, because the gateway modifies its own.
  sent.push({ command, args: structuredClone(args) });
  return respond(args);
}) as unknown as Store['run'];
const logger = pino({ level: 'silent' });

const settled = async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
};
const pass = (ms: number) => clock.advance(ms, settled);
/** Prevents an unhandled rejection of a refusal that the test awaits later. */
const handled = <Acquired>(acquired: Acquired): Acquired => {
  if (acquired instanceof Promise) acquired.catch(() => {});
  return acquired;
};
/** Returns `accepted`, the status of the refusal, or `waits`. */
const outcomeOf = (promise: unknown) =>
  Promise.race([
    Promise.resolve(promise).then(
      () => 'accepted',
      ({ status, retryAfter }: { status: number; retryAfter: number }) => `${status} after ${retryAfter}`,
    ),
    settled().then(() => 'waits'),
  ]);

/** Expects that `stop` responds to a waiting request and that no further command is sent. */
async function expectStopResponds(acquire: () => unknown, stop: () => Promise<void>): Promise<void> {
  await pass(100);
  const blocked = Promise.withResolvers<void>();
  respond = () => blocked.promise.then(() => Promise.reject(new StoreUnavailable(new Error('unavailable'))));
  const waiting = acquire();
  await pass(0);
  const stopped = stop();
  expect(await outcomeOf(waiting)).toBe('accepted');
  blocked.resolve();
  await stopped;
  await pass(5_000);
  expect(sent).toHaveLength(1);
}

/** Id of the key that a subject names. */
const idOf = (subject: string) => Number(subject.replace('key ', ''));

describe('requests', () => {
  interface Draws {
    draws: { subject: string; max: number; used: number; wanted: number }[];
  }
  let shared: SharedRequests;
  let limiter: RateLimiter;
  let gateways: number;
  /** Granted and remaining requests that the store returns, by key. */
  let given: Record<number, number>;
  let remaining: Record<number, number>;
  let requestsPerMinute: number;
  const draws = () => sent.flatMap(({ args }) => (args as Partial<Draws>).draws ?? []);

  beforeEach(() => {
    [gateways, given, remaining, requestsPerMinute] = [2, {}, {}, 100];
    respond = (args: Partial<Draws>) => ({
      gateways,
      drawn: (args.draws ?? []).map(({ subject, wanted }) => {
        const id = idOf(subject);
        return { subject, given: given[id] ?? wanted, remaining: remaining[id] ?? 90 };
      }),
    });
    shared = new SharedRequests({ store: { run }, timers: clock, logger });
    shared.start();
    const limits = () => ({ requestsPerMinute, socketsPerKey: 0 });
    limiter = new RateLimiter({ limits, timers: clock, shared });
  });
  afterEach(() => shared.stop());
  const acquire = (tokenId = 1) => handled(limiter.acquire({ tokenId }));

  test('the first is requested, then a small share of the limit is accepted and reported after 250 ms', async () => {
    await pass(100);
    const first = acquire();
    await pass(0);
    expect([await outcomeOf(first), sent]).toEqual([
      'accepted',
      [
        {
          command: 'drawRequests',
          args: { draws: [{ subject: 'key 1', max: 100, used: 0, wanted: 1 }], now: null },
        },
      ],
    ]);
    // 4 % of 100, for each of two gateways.
    expect([acquire(), acquire()]).toEqual([undefined, undefined]);
    await pass(249);
    expect(sent).toHaveLength(1);
    await pass(1);
    expect(draws()).toEqual([expect.anything(), { subject: 'key 1', max: 100, used: 2, wanted: 0 }]);
    await pass(1_000);
    expect(sent).toHaveLength(2);
    void acquire();
    void acquire();
    const third = acquire();
    expect(third).toBeInstanceOf(Promise);
    await pass(0);
    expect([await outcomeOf(third), draws().at(-1)]).toEqual([
      'accepted',
      { subject: 'key 1', max: 100, used: 2, wanted: 1 },
    ]);
  });

  test('those that are not granted are refused, with a retry-after from the remainder', async () => {
    [given, remaining] = [{ 1: 1 }, { 1: 0 }];
    const two = [acquire(), acquire()];
    await pass(0);
    expect(await Promise.all(two.map(outcomeOf))).toEqual(['accepted', '429 after 1']);
    // 100 a minute: one after 600 ms.
    expect(() => acquire()).toThrow(expect.objectContaining({ status: 429, retryAfter: 1 }));
    await pass(599);
    expect(() => acquire()).toThrow();
    await pass(1);
    expect(acquire()).toBeUndefined();
  });

  test('a negative remainder raises retry-after', async () => {
    [given, remaining] = [{ 1: 0 }, { 1: -9 }];
    const refused = acquire();
    await pass(0);
    expect(await outcomeOf(refused)).toBe('429 after 6');
  });

  test('waiting requests count as accepted', async () => {
    requestsPerMinute = 3;
    const waiting = [acquire(), acquire(), acquire()];
    expect(() => acquire()).toThrow(expect.objectContaining({ status: 429 }));
    [given, remaining] = [{ 1: 3 }, { 1: 0 }];
    await pass(0);
    expect(await Promise.all(waiting.map(outcomeOf))).toEqual(['accepted', 'accepted', 'accepted']);
  });

  test('pending requests count as accepted', async () => {
    requestsPerMinute = 2;
    const blocked = Promise.withResolvers<void>();
    const original = respond;
    respond = (args) => blocked.promise.then(() => original(args));
    const first = acquire();
    await pass(0);
    const second = acquire();
    expect(() => acquire()).toThrow(expect.objectContaining({ status: 429 }));
    blocked.resolve();
    await pass(25);
    expect([await outcomeOf(first), await outcomeOf(second)]).toEqual(['accepted', 'accepted']);
  });

  test('a granted request is refunded when another allowance refuses', async () => {
    const outer = { tokenId: 1, requestsPerMinute: 100, sockets: null };
    const own = { tokenId: 2, requestsPerMinute: 50, sockets: null };
    given = { 1: 1, 2: 0 };
    remaining = { 2: 0 };
    const acquired = handled(limiter.acquire({ tokenId: 2, allowances: [own, outer] }));
    await pass(0);
    expect(await outcomeOf(acquired)).toBe('429 after 2');
    await pass(250);
    expect(draws().slice(2)).toEqual([{ subject: 'key 1', max: 100, used: -1, wanted: 0 }]);
  });

  test('a request accepted without the store is refunded, too', async () => {
    const outer = { tokenId: 1, requestsPerMinute: 1_000, sockets: null };
    const own = { tokenId: 2, requestsPerMinute: 20, sockets: null };
    const both = () => handled(limiter.acquire({ tokenId: 2, allowances: [own, outer] }));
    void both();
    await pass(0);
    given = { 2: 0 };
    const refused = both();
    await pass(25);
    expect(await outcomeOf(refused)).toMatch(/^429/);
    await pass(250);
    // Reported as used with the refusal, then refunded.
    const reported = draws().filter(({ subject }) => subject === 'key 1');
    expect(reported.reduce((sum, { used, wanted }) => sum + used + wanted, 0)).toBe(1);
  });

  test('a gateway enforces its equal share while the store is unavailable', async () => {
    void acquire();
    await pass(0);
    expect(shared.shares).toBe(1);
    await pass(60_000);
    respond = () => Promise.reject(new StoreUnavailable(new Error('unavailable')));
    sent.length = 0;
    for (let count = 0; count < 2; count += 1) void acquire();
    const third = acquire();
    await pass(25);
    expect([await outcomeOf(third), shared.shares]).toEqual(['accepted', 2]);
    // Half of 100 a minute, including the one just accepted.
    let more = 0;
    expect(() => {
      for (; more < 100; more += 1) void acquire();
    }).toThrow(expect.objectContaining({ status: 429 }));
    expect(more).toBe(49);
    await pass(1_199);
    expect(() => acquire()).toThrow();
    await pass(1);
    expect(acquire()).toBeUndefined();
  });

  test('a grant for a request that was decided locally is refunded', async () => {
    const blocked = Promise.withResolvers<void>();
    const original = respond;
    respond = (args) => blocked.promise.then(() => original(args));
    const first = acquire();
    // The store exceeds the wait limit, so the gateway decides.
    await pass(1_000);
    expect(await outcomeOf(first)).toBe('accepted');
    respond = original;
    blocked.resolve();
    await pass(2_000);
    expect(draws().map(({ used, wanted }) => [used, wanted])).toEqual([
      [0, 1],
      [0, 0],
    ]);
    // The remainder is the one that the store returns.
    remaining = { 1: 0.5 };
    void acquire();
    await pass(250);
    expect(() => acquire()).toThrow(expect.objectContaining({ status: 429 }));
  });

  test('a refunded request can be used at once', async () => {
    const outer = { tokenId: 1, requestsPerMinute: 100, sockets: null };
    const own = { tokenId: 2, requestsPerMinute: 50, sockets: null };
    [given, remaining] = [
      { 1: 1, 2: 0 },
      { 1: 0, 2: 0 },
    ];
    const refused = handled(limiter.acquire({ tokenId: 2, allowances: [own, outer] }));
    await pass(0);
    expect(await outcomeOf(refused)).toMatch(/^429/);
    expect(limiter.acquire({ tokenId: 1, allowances: [outer] })).toBeUndefined();
    expect(() => limiter.acquire({ tokenId: 1, allowances: [outer] })).toThrow();
  });

  test('requests accepted during a synchronization are deducted from the remainder it returns', async () => {
    gateways = 1;
    void acquire();
    await pass(0);
    expect(acquire()).toBeUndefined();
    const blocked = Promise.withResolvers<void>();
    const original = respond;
    respond = (args) => blocked.promise.then(() => original(args));
    await pass(250);
    expect(acquire()).toBeUndefined();
    remaining = { 1: 1 };
    blocked.resolve();
    await pass(0);
    expect(() => acquire()).toThrow(expect.objectContaining({ status: 429 }));
    await pass(250);
    expect(draws().map(({ used }) => used)).toEqual([0, 1, 1]);
  });

  test('waiting requests get the local share when the store is slow, and the surplus of its grant is refunded', async () => {
    requestsPerMinute = 4;
    remaining = { 1: 4 };
    void acquire();
    await pass(25);
    const blocked = Promise.withResolvers<void>();
    const original = respond;
    respond = (args) => blocked.promise.then(() => original(args));
    const four = [acquire(), acquire(), acquire(), acquire()];
    await pass(1_000);
    const outcomes = await Promise.all(four.map(outcomeOf));
    expect(outcomes.map((one) => one.slice(0, 3))).toEqual(['acc', 'acc', '429', '429']);
    respond = original;
    blocked.resolve();
    await pass(2_000);
    expect(draws().map(({ used, wanted }) => [used, wanted])).toEqual([
      [0, 1],
      [0, 4],
      [-2, 0],
    ]);
  });

  test('stop responds to waiting requests and sends nothing more', () =>
    expectStopResponds(acquire, () => shared.stop()));

  test('a key that the store does not return has no requests left', async () => {
    respond = () => ({ gateways: 1, drawn: [] });
    const first = acquire();
    await pass(0);
    expect(await outcomeOf(first)).toBe('429 after 1');
  });

  test('unused allowances are swept every minute, by the given clock', async () => {
    await pass(60_000);
    expect(sent).toEqual([{ command: 'sweepAllowances', args: { now: null } }]);
    const other = new SharedRequests({ store: { run }, timers: clock, logger, clock: () => 7 });
    other.start();
    await pass(60_000);
    expect(sent.at(-1)).toEqual({ command: 'sweepAllowances', args: { now: 7 } });
    await other.stop();
  });
});

describe('sockets', () => {
  interface Claims {
    claims: { subject: string; max: number; open: number; wanted: number }[];
  }
  let shared: SharedConcurrency;
  let limiter: SocketLimiter;
  /** Sockets allocated to this gateway, by key. */
  let places: Record<number, number>;
  let gateways: number;
  const claims = () => sent.flatMap(({ args }) => (args as Claims).claims);

  beforeEach(() => {
    [gateways, places] = [2, {}];
    respond = ({ claims: all }: Claims) => ({
      gateways,
      places: all.map(({ subject, wanted }) => ({ subject, places: places[idOf(subject)] ?? wanted })),
    });
    shared = new SharedConcurrency({ store: { run }, gateway: 'g1', timers: clock, logger });
    shared.start();
    limiter = new SocketLimiter({ limits: () => ({ requestsPerMinute: 0, socketsPerKey: 4 }), shared });
  });
  afterEach(() => shared.stop());
  const acquire = (tokenId = 1) => handled(limiter.acquire({ tokenId }));
  const open = async (tokenId = 1) => {
    const acquired = acquire(tokenId);
    await pass(25);
    return acquired;
  };

  test('each is claimed, and a closed one is reported after 250 ms', async () => {
    await pass(100);
    const release = await open();
    expect(sent).toEqual([
      {
        command: 'claimPlaces',
        args: { gateway: 'g1', claims: [{ subject: 'key 1', max: 4, open: 0, wanted: 1 }] },
      },
    ]);
    expect(shared.counters.get('key 1')).toMatchObject({ open: 1, allocated: 1 });
    release();
    await pass(249);
    expect(sent).toHaveLength(1);
    await pass(1);
    expect(claims()[1]).toEqual({ subject: 'key 1', max: 4, open: 0, wanted: 0 });
    expect(shared.counters.get('key 1')).toMatchObject({ open: 0, allocated: 0 });
  });

  test('an allocated socket is reused without a command', async () => {
    const release = await open();
    release();
    expect(acquire()).toBeTypeOf('function');
    expect(sent).toHaveLength(1);
  });

  test('an allocation is not reused while its return is reported', async () => {
    const release = await open();
    release();
    const blocked = Promise.withResolvers<void>();
    const original = respond;
    respond = (args) => blocked.promise.then(() => original(args));
    await pass(250);
    expect(acquire()).toBeInstanceOf(Promise);
    blocked.resolve();
    await pass(25);
  });

  test('an allocation beyond the open sockets is returned', async () => {
    places = { 1: 3 };
    await open();
    expect(shared.counters.get('key 1')).toMatchObject({ open: 1, allocated: 3 });
    delete places[1];
    await pass(250);
    expect(claims().at(-1)).toEqual({ subject: 'key 1', max: 4, open: 1, wanted: 1 });
    expect(shared.counters.get('key 1')).toMatchObject({ open: 1, allocated: 1 });
    await pass(1_000);
    expect(sent).toHaveLength(2);
  });

  test('a refused socket is not requested again for 250 ms', async () => {
    places = { 1: 0 };
    const refused = acquire();
    await pass(0);
    expect(await outcomeOf(refused)).toBe('429 after 1');
    await pass(249);
    expect(() => acquire()).toThrow(expect.objectContaining({ status: 429 }));
    await pass(1);
    expect(acquire()).toBeInstanceOf(Promise);
    await pass(25);
    expect(sent).toHaveLength(2);
  });

  test('a key at its limit here is refused without a command', async () => {
    for (let count = 0; count < 4; count += 1) await open();
    expect(() => acquire()).toThrow(/4 sockets open/);
    expect(sent).toHaveLength(4);
  });

  test('waiting and pending sockets count as open', async () => {
    const blocked = Promise.withResolvers<void>();
    const original = respond;
    respond = (args) => blocked.promise.then(() => original(args));
    const first = [acquire(), acquire()];
    await pass(0);
    const more = [acquire(), acquire()];
    expect(() => acquire()).toThrow(expect.objectContaining({ status: 429 }));
    blocked.resolve();
    await pass(50);
    expect(await Promise.all([...first, ...more].map(outcomeOf))).toEqual(Array(4).fill('accepted'));
  });

  test('a granted socket is released when another allowance refuses', async () => {
    const outer = { tokenId: 1, requestsPerMinute: null, sockets: 3 };
    const own = { tokenId: 2, requestsPerMinute: null, sockets: 2 };
    places = { 2: 0 };
    const acquired = handled(limiter.acquire({ tokenId: 2, allowances: [own, outer] }));
    await pass(0);
    expect(await outcomeOf(acquired)).toBe('429 after 1');
    expect(['key 1', 'key 2'].map((subject) => shared.counters.get(subject)?.open)).toEqual([0, 0]);
    await pass(250);
    expect(claims().at(-1)).toEqual({ subject: 'key 1', max: 3, open: 0, wanted: 0 });
  });

  test('a gateway opens its equal share or its allocation while the store is unavailable', async () => {
    await open();
    respond = () => Promise.reject(new StoreUnavailable(new Error('unavailable')));
    const second = await open();
    expect(second).toBeTypeOf('function');
    expect(() => acquire()).toThrow(expect.objectContaining({ status: 429 }));
    second();
    expect(acquire()).toBeTypeOf('function');
    // Two gateways, four sockets.
    expect(shared.counters.get('key 1')?.open).toBe(2);
  });

  test('waiting sockets get the local share when the store is slow', async () => {
    await open();
    const blocked = Promise.withResolvers<void>();
    const original = respond;
    respond = (args) => blocked.promise.then(() => original(args));
    const three = [acquire(), acquire(), acquire()];
    await pass(1_000);
    expect(await Promise.all(three.map(outcomeOf))).toEqual(['accepted', '429 after 1', '429 after 1']);
    blocked.resolve();
    await pass(25);
  });

  test('sockets opened without the store are reported when it responds again', async () => {
    await open();
    respond = () => Promise.reject(new StoreUnavailable(new Error('unavailable')));
    await open();
    expect(acquire(2)).toBeTypeOf('function');
    respond = ({ claims: all }: Claims) => ({
      gateways,
      places: all.map(({ subject, wanted }) => ({ subject, places: wanted })),
    });
    sent.length = 0;
    await pass(6_000);
    expect(claims()).toContainEqual({ subject: 'key 2', max: 4, open: 1, wanted: 1 });
  });

  test('the counter of a key that was just refused is kept', async () => {
    await pass(4_900);
    places = { 1: 0 };
    void acquire();
    await pass(100);
    expect([clock.monotonic(), [...shared.counters.keys()]]).toEqual([5_000, ['key 1']]);
    await pass(5_000);
    expect(shared.counters.size).toBe(0);
  });

  test('stop responds to waiting requests and sends nothing more', () =>
    expectStopResponds(acquire, () => shared.stop()));

  test('open sockets are reported every 5 s, and empty counters are dropped', async () => {
    const release = await open();
    await open(2);
    sent.length = 0;
    await pass(5_000);
    expect(claims()).toEqual([
      { subject: 'key 1', max: 4, open: 1, wanted: 1 },
      { subject: 'key 2', max: 4, open: 1, wanted: 1 },
    ]);
    release();
    await pass(10_000);
    expect([...shared.counters.keys()]).toEqual(['key 2']);
  });

  test('sockets of a key without a limit are counted and not reported', async () => {
    const unlimited = { tokenId: 1, requestsPerMinute: null, sockets: 0 };
    const release = limiter.acquire({ tokenId: 1, allowances: [unlimited] });
    expect([release, shared.counters.get('key 1')?.open]).toEqual([expect.any(Function), 1]);
    await pass(5_000);
    (release as () => void)();
    expect(shared.counters.get('key 1')?.open).toBe(0);
    await pass(5_000);
    expect([sent, shared.counters.size]).toEqual([[], 0]);
  });
});
