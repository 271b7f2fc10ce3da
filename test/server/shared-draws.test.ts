import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RateLimit } from '../../server/keys/rate-limit.ts';
import { SharedRequests } from '../../server/keys/shared-requests.ts';
import { SharedSockets } from '../../server/keys/shared-sockets.ts';
import { SocketLimit } from '../../server/keys/socket-limit.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { Store } from '../../server/store/store.ts';
import { TestClock } from '../tasks/test-clock.ts';

/** What a gateway tells the store, and what it makes of the answers. The store itself: shared-limits, shared-sockets. */
type Asked = { command: string; args: unknown };

let clock: TestClock;
let asked: Asked[];
let answers: (args: never) => unknown;

beforeEach(() => {
  clock = new TestClock(0);
  asked = [];
});

const run = (async (command: string, args: never) => {
  // As it is now: the gateway goes on with its own.
  asked.push({ command, args: structuredClone(args) });
  return answers(args);
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
/** A refusal may come while the test looks elsewhere. */
const watched = <Taken>(taken: Taken): Taken => {
  if (taken instanceof Promise) taken.catch(() => {});
  return taken;
};
/** How a promise stands: what it gave, the status of its failure, or `waits`. */
const stand = (promise: unknown) =>
  Promise.race([
    Promise.resolve(promise).then(
      () => 'passed',
      ({ status, retryAfter }: { status: number; retryAfter: number }) => `${status} after ${retryAfter}`,
    ),
    settled().then(() => 'waits'),
  ]);

/** Of either kind: when its gateway stops, who waits has an answer, and nothing more is told. */
async function expectLastAnswer(take: () => unknown, stop: () => Promise<void>): Promise<void> {
  await pass(100);
  const held = Promise.withResolvers<void>();
  answers = () => held.promise.then(() => Promise.reject(new StoreUnavailable(new Error('away'))));
  const waiting = take();
  await pass(0);
  const stopped = stop();
  expect(await stand(waiting)).toBe('passed');
  held.resolve();
  await stopped;
  await pass(5_000);
  expect(asked).toHaveLength(1);
}

describe('requests', () => {
  interface Draws {
    draws: { tokenId: number; max: number; used: number; wanted: number }[];
  }
  let shared: SharedRequests;
  let limit: RateLimit;
  let gateways: number;
  /** What the store gives of what is wanted, by key, and what it says is left. */
  let given: Record<number, number>;
  let remaining: Record<number, number>;
  let requestsPerMinute: number;
  const draws = () => asked.flatMap(({ args }) => (args as Partial<Draws>).draws ?? []);

  beforeEach(() => {
    [gateways, given, remaining, requestsPerMinute] = [2, {}, {}, 100];
    answers = (args: Partial<Draws>) => ({
      gateways,
      drawn: (args.draws ?? []).map(({ tokenId, wanted }) => {
        return { tokenId, given: given[tokenId] ?? wanted, remaining: remaining[tokenId] ?? 90 };
      }),
    });
    shared = new SharedRequests({ store: { run }, timers: clock, logger });
    shared.start();
    const limits = () => ({ requestsPerMinute, socketsPerKey: 0 });
    limit = new RateLimit({ limits, timers: clock, shared });
  });
  afterEach(() => shared.stop());
  const take = (tokenId = 1) => watched(limit.take({ tokenId }));

  test('the first is asked for, then a small part of the limit passes and is told a quarter of a second later', async () => {
    await pass(100);
    const first = take();
    await pass(0);
    expect([await stand(first), asked]).toEqual([
      'passed',
      [
        {
          command: 'drawRequests',
          args: { draws: [{ tokenId: 1, max: 100, used: 0, wanted: 1 }], now: null },
        },
      ],
    ]);
    // 4 % of 100, for each of two gateways.
    expect([take(), take()]).toEqual([undefined, undefined]);
    await pass(249);
    expect(asked).toHaveLength(1);
    await pass(1);
    expect(draws()).toEqual([expect.anything(), { tokenId: 1, max: 100, used: 2, wanted: 0 }]);
    await pass(1_000);
    expect(asked).toHaveLength(2);
    void take();
    void take();
    const third = take();
    expect(third).toBeInstanceOf(Promise);
    await pass(0);
    expect([await stand(third), draws().at(-1)]).toEqual([
      'passed',
      { tokenId: 1, max: 100, used: 2, wanted: 1 },
    ]);
  });

  test('those that are not given are refused, by what is left', async () => {
    [given, remaining] = [{ 1: 1 }, { 1: 0 }];
    const two = [take(), take()];
    await pass(0);
    expect(await Promise.all(two.map(stand))).toEqual(['passed', '429 after 1']);
    // 100 a minute: one after 600 ms.
    expect(() => take()).toThrow(expect.objectContaining({ status: 429, retryAfter: 1 }));
    await pass(599);
    expect(() => take()).toThrow();
    await pass(1);
    expect(take()).toBeUndefined();
  });

  test('below zero left it takes as much longer', async () => {
    [given, remaining] = [{ 1: 0 }, { 1: -9 }];
    const refused = take();
    await pass(0);
    expect(await stand(refused)).toBe('429 after 6');
  });

  test('those that wait count as passed', async () => {
    requestsPerMinute = 3;
    const waiting = [take(), take(), take()];
    expect(() => take()).toThrow(expect.objectContaining({ status: 429 }));
    [given, remaining] = [{ 1: 3 }, { 1: 0 }];
    await pass(0);
    expect(await Promise.all(waiting.map(stand))).toEqual(['passed', 'passed', 'passed']);
  });

  test('those that are being asked for count as passed, too', async () => {
    requestsPerMinute = 2;
    const held = Promise.withResolvers<void>();
    const answer = answers;
    answers = (args) => held.promise.then(() => answer(args));
    const first = take();
    await pass(0);
    const second = take();
    expect(() => take()).toThrow(expect.objectContaining({ status: 429 }));
    held.resolve();
    await pass(25);
    expect([await stand(first), await stand(second)]).toEqual(['passed', 'passed']);
  });

  test('what one allowance gave goes back when another refuses', async () => {
    const outer = { tokenId: 1, requestsPerMinute: 100, sockets: null };
    const own = { tokenId: 2, requestsPerMinute: 50, sockets: null };
    given = { 1: 1, 2: 0 };
    remaining = { 2: 0 };
    const taken = watched(limit.take({ tokenId: 2, allowances: [own, outer] }));
    await pass(0);
    expect(await stand(taken)).toBe('429 after 2');
    await pass(250);
    expect(draws().slice(2)).toEqual([{ tokenId: 1, max: 100, used: -1, wanted: 0 }]);
  });

  test('what passed without asking goes back, too', async () => {
    const outer = { tokenId: 1, requestsPerMinute: 1_000, sockets: null };
    const own = { tokenId: 2, requestsPerMinute: 20, sockets: null };
    const both = () => watched(limit.take({ tokenId: 2, allowances: [own, outer] }));
    void both();
    await pass(0);
    given = { 2: 0 };
    const refused = both();
    await pass(25);
    expect(await stand(refused)).toMatch(/^429/);
    await pass(250);
    // Told as used with the refusal, then taken back.
    const told = draws().filter(({ tokenId }) => tokenId === 1);
    expect(told.reduce((sum, { used, wanted }) => sum + used + wanted, 0)).toBe(1);
  });

  test('while the store is away a gateway has its equal share, and tells of what passed', async () => {
    void take();
    await pass(0);
    expect(shared.parts).toBe(1);
    await pass(60_000);
    answers = () => Promise.reject(new StoreUnavailable(new Error('away')));
    asked.length = 0;
    for (let count = 0; count < 2; count += 1) void take();
    const third = take();
    await pass(25);
    expect([await stand(third), shared.parts]).toEqual(['passed', 2]);
    // Half of 100 a minute, with the one that has passed since.
    let more = 0;
    expect(() => {
      for (; more < 100; more += 1) void take();
    }).toThrow(expect.objectContaining({ status: 429 }));
    expect(more).toBe(49);
    await pass(1_199);
    expect(() => take()).toThrow();
    await pass(1);
    expect(take()).toBeUndefined();
  });

  test('what the store gave to somebody who was answered without it is given back', async () => {
    const held = Promise.withResolvers<void>();
    const answer = answers;
    answers = (args) => held.promise.then(() => answer(args));
    const first = take();
    // It is silent for longer than anybody waits, so this gateway decides.
    await pass(1_000);
    expect(await stand(first)).toBe('passed');
    answers = answer;
    held.resolve();
    await pass(2_000);
    expect(draws().map(({ used, wanted }) => [used, wanted])).toEqual([
      [0, 1],
      [0, 0],
    ]);
    // All that is left is what the store says.
    remaining = { 1: 0.5 };
    void take();
    await pass(250);
    expect(() => take()).toThrow(expect.objectContaining({ status: 429 }));
  });

  test('what goes back may pass again at once', async () => {
    const outer = { tokenId: 1, requestsPerMinute: 100, sockets: null };
    const own = { tokenId: 2, requestsPerMinute: 50, sockets: null };
    [given, remaining] = [
      { 1: 1, 2: 0 },
      { 1: 0, 2: 0 },
    ];
    const refused = watched(limit.take({ tokenId: 2, allowances: [own, outer] }));
    await pass(0);
    expect(await stand(refused)).toMatch(/^429/);
    expect(limit.take({ tokenId: 1, allowances: [outer] })).toBeUndefined();
    expect(() => limit.take({ tokenId: 1, allowances: [outer] })).toThrow();
  });

  test('what passes while the store is told counts against what it says is left', async () => {
    gateways = 1;
    void take();
    await pass(0);
    expect(take()).toBeUndefined();
    const held = Promise.withResolvers<void>();
    const answer = answers;
    answers = (args) => held.promise.then(() => answer(args));
    await pass(250);
    expect(take()).toBeUndefined();
    remaining = { 1: 1 };
    held.resolve();
    await pass(0);
    expect(() => take()).toThrow(expect.objectContaining({ status: 429 }));
    await pass(250);
    expect(draws().map(({ used }) => used)).toEqual([0, 1, 1]);
  });

  test('who waits for a silent store has its share, and what the store gave beyond that goes back', async () => {
    requestsPerMinute = 4;
    remaining = { 1: 4 };
    void take();
    await pass(25);
    const held = Promise.withResolvers<void>();
    const answer = answers;
    answers = (args) => held.promise.then(() => answer(args));
    const four = [take(), take(), take(), take()];
    await pass(1_000);
    const stands = await Promise.all(four.map(stand));
    expect(stands.map((one) => one.slice(0, 6))).toEqual(['passed', 'passed', '429 af', '429 af']);
    answers = answer;
    held.resolve();
    await pass(2_000);
    expect(draws().map(({ used, wanted }) => [used, wanted])).toEqual([
      [0, 1],
      [0, 4],
      [-2, 0],
    ]);
  });

  test('a gateway that stops answers who waits, and tells nothing more', () =>
    expectLastAnswer(take, () => shared.stop()));

  test('a key that the store knows no more has nothing left', async () => {
    answers = () => ({ gateways: 1, drawn: [] });
    const first = take();
    await pass(0);
    expect(await stand(first)).toBe('429 after 1');
  });

  test('what nobody uses is swept each minute, by the clock that is given', async () => {
    await pass(60_000);
    expect(asked).toEqual([{ command: 'sweepAllowances', args: { now: null } }]);
    const other = new SharedRequests({ store: { run }, timers: clock, logger, clock: () => 7 });
    other.start();
    await pass(60_000);
    expect(asked.at(-1)).toEqual({ command: 'sweepAllowances', args: { now: 7 } });
    await other.stop();
  });
});

describe('sockets', () => {
  interface Claims {
    claims: { tokenId: number; max: number; open: number; wanted: number }[];
  }
  let shared: SharedSockets;
  let limit: SocketLimit;
  /** Places of this gateway, by key. */
  let places: Record<number, number>;
  let gateways: number;
  const claims = () => asked.flatMap(({ args }) => (args as Claims).claims);

  beforeEach(() => {
    [gateways, places] = [2, {}];
    answers = ({ claims: all }: Claims) => ({
      gateways,
      places: all.map(({ tokenId, wanted }) => ({ tokenId, places: places[tokenId] ?? wanted })),
    });
    shared = new SharedSockets({ store: { run }, gateway: 'g1', timers: clock, logger });
    shared.start();
    limit = new SocketLimit({ limits: () => ({ requestsPerMinute: 0, socketsPerKey: 4 }), shared });
  });
  afterEach(() => shared.stop());
  const take = (tokenId = 1) => watched(limit.take({ tokenId }));
  const open = async (tokenId = 1) => {
    const taken = take(tokenId);
    await pass(25);
    return taken;
  };

  test('each is claimed, and a place that was left is told a quarter of a second later', async () => {
    await pass(100);
    const leave = await open();
    expect(asked).toEqual([
      {
        command: 'claimSockets',
        args: { gateway: 'g1', claims: [{ tokenId: 1, max: 4, open: 0, wanted: 1 }] },
      },
    ]);
    expect(shared.seats.get(1)).toMatchObject({ open: 1, places: 1 });
    leave();
    await pass(249);
    expect(asked).toHaveLength(1);
    await pass(1);
    expect(claims()[1]).toEqual({ tokenId: 1, max: 4, open: 0, wanted: 0 });
    expect(shared.seats.get(1)).toMatchObject({ open: 0, places: 0 });
  });

  test('a place that is still held is used again without asking', async () => {
    const leave = await open();
    leave();
    expect(take()).toBeTypeOf('function');
    expect(asked).toHaveLength(1);
  });

  test('what is given up is not taken again while it is told', async () => {
    const leave = await open();
    leave();
    const held = Promise.withResolvers<void>();
    const answer = answers;
    answers = (args) => held.promise.then(() => answer(args));
    await pass(250);
    expect(take()).toBeInstanceOf(Promise);
    held.resolve();
    await pass(25);
  });

  test('a place beyond those that are open is given up', async () => {
    places = { 1: 3 };
    await open();
    expect(shared.seats.get(1)).toMatchObject({ open: 1, places: 3 });
    delete places[1];
    await pass(250);
    expect(claims().at(-1)).toEqual({ tokenId: 1, max: 4, open: 1, wanted: 1 });
    expect(shared.seats.get(1)).toMatchObject({ open: 1, places: 1 });
    await pass(1_000);
    expect(asked).toHaveLength(2);
  });

  test('who finds none is refused, and for a quarter of a second nobody asks again', async () => {
    places = { 1: 0 };
    const refused = take();
    await pass(0);
    expect(await stand(refused)).toBe('429 after 1');
    await pass(249);
    expect(() => take()).toThrow(expect.objectContaining({ status: 429 }));
    await pass(1);
    expect(take()).toBeInstanceOf(Promise);
    await pass(25);
    expect(asked).toHaveLength(2);
  });

  test('a key that has its figure open here is refused without asking', async () => {
    for (let count = 0; count < 4; count += 1) await open();
    expect(() => take()).toThrow(/4 sockets open/);
    expect(asked).toHaveLength(4);
  });

  test('those that wait, and those that are being asked for, count as open', async () => {
    const held = Promise.withResolvers<void>();
    const answer = answers;
    answers = (args) => held.promise.then(() => answer(args));
    const first = [take(), take()];
    await pass(0);
    const more = [take(), take()];
    expect(() => take()).toThrow(expect.objectContaining({ status: 429 }));
    held.resolve();
    await pass(50);
    expect(await Promise.all([...first, ...more].map(stand))).toEqual(Array(4).fill('passed'));
  });

  test('what one allowance gave is left again when another refuses', async () => {
    const outer = { tokenId: 1, requestsPerMinute: null, sockets: 3 };
    const own = { tokenId: 2, requestsPerMinute: null, sockets: 2 };
    places = { 2: 0 };
    const taken = watched(limit.take({ tokenId: 2, allowances: [own, outer] }));
    await pass(0);
    expect(await stand(taken)).toBe('429 after 1');
    expect([1, 2].map((id) => shared.seats.get(id)?.open)).toEqual([0, 0]);
    await pass(250);
    expect(claims().at(-1)).toEqual({ tokenId: 1, max: 3, open: 0, wanted: 0 });
  });

  test('while the store is away a gateway opens its equal share, or what it has places for', async () => {
    await open();
    answers = () => Promise.reject(new StoreUnavailable(new Error('away')));
    const second = await open();
    expect(second).toBeTypeOf('function');
    expect(() => take()).toThrow(expect.objectContaining({ status: 429 }));
    second();
    expect(take()).toBeTypeOf('function');
    // Two gateways, four sockets.
    expect(shared.seats.get(1)?.open).toBe(2);
  });

  test('who waits for a silent store has its share', async () => {
    await open();
    const held = Promise.withResolvers<void>();
    const answer = answers;
    answers = (args) => held.promise.then(() => answer(args));
    const three = [take(), take(), take()];
    await pass(1_000);
    expect(await Promise.all(three.map(stand))).toEqual(['passed', '429 after 1', '429 after 1']);
    held.resolve();
    await pass(25);
  });

  test('what was opened without the store is told when it is back', async () => {
    await open();
    answers = () => Promise.reject(new StoreUnavailable(new Error('away')));
    await open();
    expect(take(2)).toBeTypeOf('function');
    answers = ({ claims: all }: Claims) => ({
      gateways,
      places: all.map(({ tokenId, wanted }) => ({ tokenId, places: wanted })),
    });
    asked.length = 0;
    await pass(6_000);
    expect(claims()).toContainEqual({ tokenId: 2, max: 4, open: 1, wanted: 1 });
  });

  test('a key that was refused a moment ago is not forgotten yet', async () => {
    await pass(4_900);
    places = { 1: 0 };
    void take();
    await pass(100);
    expect([clock.monotonic(), [...shared.seats.keys()]]).toEqual([5_000, [1]]);
    await pass(5_000);
    expect(shared.seats.size).toBe(0);
  });

  test('a gateway that stops answers who waits, and tells nothing more', () =>
    expectLastAnswer(take, () => shared.stop()));

  test('what is open is told again each five seconds, and what is empty forgotten', async () => {
    const leave = await open();
    await open(2);
    asked.length = 0;
    await pass(5_000);
    expect(claims()).toEqual([
      { tokenId: 1, max: 4, open: 1, wanted: 1 },
      { tokenId: 2, max: 4, open: 1, wanted: 1 },
    ]);
    leave();
    await pass(10_000);
    expect([...shared.seats.keys()]).toEqual([2]);
  });

  test('a key without a limit is counted and told nowhere', async () => {
    const free = { tokenId: 1, requestsPerMinute: null, sockets: 0 };
    const leave = limit.take({ tokenId: 1, allowances: [free] });
    expect([leave, shared.seats.get(1)?.open]).toEqual([expect.any(Function), 1]);
    await pass(5_000);
    (leave as () => void)();
    expect(shared.seats.get(1)?.open).toBe(0);
    await pass(5_000);
    expect([asked, shared.seats.size]).toEqual([[], 0]);
  });
});
