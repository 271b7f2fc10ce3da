import { beforeEach, describe, expect, test } from 'vitest';
import { LogDays } from '../../server/quota/log-days.ts';
import { Retention } from '../../server/quota/retention.ts';
import { RollUp } from '../../server/quota/roll-up.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { dayMs, dayOf } from '../../server/store/log-days.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { eachTestOnOneStore } from '../store/one-store.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { until } from '../support/turns.ts';

// The commands are on paper: what they do to a database is tried in test/store.

let real: Store;
eachTestOnOneStore('sqlite', ({ store }) => {
  real = store;
});

let timers: ManualTimers;
let lines: string[];
/** What was asked for, in order, and what is answered to a command. */
let commands: [string, unknown][];
let answer: (name: string) => unknown;
beforeEach(() => {
  [timers, lines, commands, answer] = [new ManualTimers(), [], [], () => 0];
});

const parts = (engine: Store['engine'] = 'sqlite') => {
  const run = async (name: string, args: unknown) => {
    commands.push([name, args]);
    return answer(name);
  };
  const store = { ...real, engine, run: run as unknown as Store['run'] };
  const logger = createLogger('error', [], { write: (line) => void lines.push(line) });
  return { store, logger, timers, clock: () => timers.now };
};
const names = () => commands.splice(0).map(([name]) => name);
/** Lets time pass, and a round that is due come to its end. */
const pass = async (ms: number) => {
  timers.advance(ms);
  await until(() => timers.pending === 1);
};
const fail = (error: unknown) => () => {
  throw error;
};

describe('the days of the log', () => {
  test('are added at once and every ten minutes, from yesterday to a week ahead', async () => {
    const days = new LogDays(parts('postgres'));
    const asked = () => {
      const today = dayOf(timers.now);
      return ['addLogDays', { first: today - 1, last: today + 7 }];
    };
    await days.start();
    expect(commands).toEqual([asked()]);
    await pass(599_999);
    expect(commands).toHaveLength(1);
    timers.now += dayMs;
    await pass(1);
    expect(commands[1]).toEqual(asked());
    await days.stop();
    expect(timers.pending).toBe(0);
  });

  test('that cannot be added are told of, from the first time on, but not that the store is away', async () => {
    const days = new LogDays(parts('postgres'));
    answer = fail(new Error('broken'));
    await days.start();
    expect(lines).toHaveLength(1);
    await pass(600_000);
    expect(lines).toHaveLength(2);
    answer = fail(new StoreUnavailable(new Error('away')));
    await pass(600_000);
    expect([lines.length, commands.length]).toEqual([2, 3]);
    await days.stop();
  });
});

describe('the sweep of old books', () => {
  const sweeps = ['sweepReservations', 'sweepLog', 'sweepVerificationSessions', 'returnLeftovers'];
  const retention = (keepMs = 1_000) => new Retention({ ...parts(), keepMs });

  test('comes every ten minutes, and is told of when it fails', async () => {
    const job = retention();
    job.start();
    await pass(599_999);
    expect(names()).toEqual([]);
    await pass(1);
    expect(names()).toEqual(sweeps);
    answer = fail(new Error('broken'));
    await pass(600_000);
    expect([names(), lines.length]).toEqual([['sweepReservations'], 1]);
    await job.stop();
    expect(timers.pending).toBe(0);
  });

  test('takes what is older than is to be kept, as is asked from now on', async () => {
    const job = retention();
    const asked = async () => {
      await job.run();
      return commands.splice(0).map(([, args]) => args);
    };
    const { now } = timers;
    const since = (at: number) => [
      { closedBefore: at, limit: 200 },
      { closedBefore: at, limit: 200 },
      { endedBefore: at, limit: 200 },
      { limit: 200, now },
    ];
    expect(await asked()).toEqual(since(now - 1_000));
    job.apply(7_000);
    expect(await asked()).toEqual(since(now - 7_000));
  });

  test('makes nothing old when the calendar is set forward', async () => {
    const job = new Retention({ ...parts(), keepMs: 1_000, clock: () => timers.now + dayMs });
    await job.run();
    expect(commands[0]?.[1]).toMatchObject({ closedBefore: timers.now - 1_000 });
    expect(commands.at(-1)?.[1]).toMatchObject({ now: timers.now + dayMs });
  });

  test('goes on after a moment while there is more, and says how many calls went', async () => {
    const left: Record<string, number[]> = { sweepReservations: [200, 200, 3], sweepLog: [200, 0] };
    answer = (name) => left[name]?.shift() ?? 0;
    const swept = retention().run();
    for (let pauses = 0; pauses < 3; pauses += 1) {
      await until(() => timers.pending === 1);
      const before = commands.length;
      timers.advance(49);
      expect([timers.pending, commands.length]).toEqual([1, before]);
      timers.advance(1);
    }
    expect(await swept).toBe(603);
    const [books, booked, ...rest] = sweeps;
    expect(names()).toEqual([books, books, books, booked, booked, ...rest]);
  });

  test('ends where it is when it is stopped', async () => {
    answer = () => 200;
    const job = retention();
    const swept = job.run();
    await until(() => timers.pending === 1);
    await job.stop();
    expect(await swept).toBe(600);
    expect([timers.pending, names()]).toEqual([0, [sweeps[0], ...sweeps]]);
  });
});

describe('the log is added to the figures', () => {
  test('every ten seconds, and it is told when it cannot be, but not that the store is away', async () => {
    const job = new RollUp(parts());
    job.start();
    await pass(9_999);
    expect(names()).toEqual([]);
    await pass(1);
    expect(commands).toEqual([['rollUpLog', { end: expect.anything(), limit: 1_000 }]]);
    for (const [error, told] of [
      [new StoreUnavailable(new Error('away')), 0],
      [new Error('broken'), 1],
    ] as const) {
      answer = fail(error);
      await pass(10_000);
      expect(lines).toHaveLength(told);
    }
    await job.stop();
    expect(timers.pending).toBe(0);
  });

  test('in batches with a moment between them, up to where it ended at the beginning', async () => {
    const left: unknown[] = [1_000, 1_000, 7];
    answer = () => left.shift();
    const job = new RollUp(parts());
    const all = job.run();
    for (let pauses = 0; pauses < 2; pauses += 1) {
      await until(() => timers.pending === 1);
      timers.advance(49);
      expect(timers.pending).toBe(1);
      timers.advance(1);
    }
    expect(await all).toBe(2_007);
    const ends = commands.map(([, args]) => (args as { end: unknown }).end);
    expect(new Set(ends).size).toBe(1);
  });

  test.each([
    ['lost', true],
    ['early', false],
  ])('not while it answers %s, and the end is read anew: %s', async (word, anew) => {
    const job = new RollUp(parts());
    const left: unknown[] = [1_000, word, 0];
    answer = () => left.shift();
    const first = job.run();
    await until(() => timers.pending === 1);
    timers.advance(50);
    expect(await first).toBe(1_000);
    expect(await job.run()).toBe(0);
    const ends = commands.map(([, args]) => (args as { end: unknown }).end);
    expect([ends[0] === ends[1], ends[1] === ends[2]]).toEqual([true, !anew]);
  });

  test('no further when it is stopped', async () => {
    answer = () => 1_000;
    const job = new RollUp(parts());
    const all = job.run();
    await until(() => timers.pending === 1);
    await job.stop();
    expect(await all).toBe(2_000);
  });
});
