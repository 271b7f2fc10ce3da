import { beforeEach, describe, expect, test } from 'vitest';
import { LogDays, Retention, RollUp } from '../../server/quota/maintenance.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { dayMs, dayOf } from '../../server/store/log-days.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { eachTestOnOneStore } from '../store/one-store.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { yieldUntil } from '../support/yield-until.ts';

// Commands are stubs. test/store covers the database.

let real: Store;
eachTestOnOneStore('sqlite', ({ store }) => {
  real = store;
});

let timers: ManualTimers;
let lines: string[];
/** Sent commands in order, and the function that returns their results. */
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
/** Advances the clock and waits until a due run has ended. */
const pass = async (ms: number) => {
  timers.advance(ms);
  await yieldUntil(() => timers.pending === 1);
};
const fail = (error: unknown) => () => {
  throw error;
};

describe('partitions of the log', () => {
  test('are created at once and every 10 min, from yesterday to a week ahead', async () => {
    const days = new LogDays(parts('postgres'));
    const expected = () => {
      const today = dayOf(timers.now);
      return ['addLogDays', { first: today - 1, last: today + 7 }];
    };
    await days.start();
    expect(commands).toEqual([expected()]);
    await pass(599_999);
    expect(commands).toHaveLength(1);
    timers.now += dayMs;
    await pass(1);
    expect(commands[1]).toEqual(expected());
    await days.stop();
    expect(timers.pending).toBe(0);
  });

  test('log a failure to create them, but not an unavailable store', async () => {
    const days = new LogDays(parts('postgres'));
    answer = fail(new Error('broken'));
    await days.start();
    expect(lines).toHaveLength(1);
    await pass(600_000);
    expect(lines).toHaveLength(2);
    answer = fail(new StoreUnavailable(new Error('unavailable')));
    await pass(600_000);
    expect([lines.length, commands.length]).toEqual([2, 3]);
    await days.stop();
  });
});

describe('the sweep of expired rows', () => {
  const sweeps = ['sweepReservations', 'sweepLog', 'sweepVerificationSessions', 'returnLeftovers'];
  const retention = (keepMs = 1_000) => new Retention({ ...parts(), keepMs });

  test('runs every 10 min and logs failures', async () => {
    const job = retention();
    void job.start();
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

  test('applies the current retention', async () => {
    const job = retention();
    const argsOfRun = async () => {
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
    expect(await argsOfRun()).toEqual(since(now - 1_000));
    job.apply(7_000);
    expect(await argsOfRun()).toEqual(since(now - 7_000));
  });

  test('expires nothing when the system clock is set forward', async () => {
    const job = new Retention({ ...parts(), keepMs: 1_000, clock: () => timers.now + dayMs });
    await job.run();
    expect(commands[0]?.[1]).toMatchObject({ closedBefore: timers.now - 1_000 });
    expect(commands.at(-1)?.[1]).toMatchObject({ now: timers.now + dayMs });
  });

  test('continues after a pause while rows are left, and returns the number of calls', async () => {
    const left: Record<string, number[]> = { sweepReservations: [200, 200, 3], sweepLog: [200, 0] };
    answer = (name) => left[name]?.shift() ?? 0;
    const swept = retention().run();
    for (let pauses = 0; pauses < 3; pauses += 1) {
      await yieldUntil(() => timers.pending === 1);
      const before = commands.length;
      timers.advance(49);
      expect([timers.pending, commands.length]).toEqual([1, before]);
      timers.advance(1);
    }
    expect(await swept).toBe(603);
    const [ledger, log, ...rest] = sweeps;
    expect(names()).toEqual([ledger, ledger, ledger, log, log, ...rest]);
  });

  test('stops after the current batch', async () => {
    answer = () => 200;
    const job = retention();
    const swept = job.run();
    await yieldUntil(() => timers.pending === 1);
    await job.stop();
    expect(await swept).toBe(600);
    expect([timers.pending, names()]).toEqual([0, [sweeps[0], ...sweeps]]);
  });
});

describe('the roll-up of the log', () => {
  test('runs every 10 s and logs failures, but not an unavailable store', async () => {
    const job = new RollUp(parts());
    void job.start();
    await pass(9_999);
    expect(names()).toEqual([]);
    await pass(1);
    expect(commands).toEqual([['rollUpLog', { end: expect.anything(), limit: 1_000 }]]);
    for (const [error, logged] of [
      [new StoreUnavailable(new Error('unavailable')), 0],
      [new Error('broken'), 1],
    ] as const) {
      answer = fail(error);
      await pass(10_000);
      expect(lines).toHaveLength(logged);
    }
    await job.stop();
    expect(timers.pending).toBe(0);
  });

  test('adds batches with pauses, up to the end of the log at its start', async () => {
    const left: unknown[] = [1_000, 1_000, 7];
    answer = () => left.shift();
    const job = new RollUp(parts());
    const all = job.run();
    for (let pauses = 0; pauses < 2; pauses += 1) {
      await yieldUntil(() => timers.pending === 1);
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
  ])('ends on the outcome %s, and reads the end of the log again: %s', async (outcome, isReadAgain) => {
    const job = new RollUp(parts());
    const left: unknown[] = [1_000, outcome, 0];
    answer = () => left.shift();
    const first = job.run();
    await yieldUntil(() => timers.pending === 1);
    timers.advance(50);
    expect(await first).toBe(1_000);
    expect(await job.run()).toBe(0);
    const ends = commands.map(([, args]) => (args as { end: unknown }).end);
    expect([ends[0] === ends[1], ends[1] === ends[2]]).toEqual([true, !isReadAgain]);
  });

  test('stops after the current batch', async () => {
    answer = () => 1_000;
    const job = new RollUp(parts());
    const all = job.run();
    await yieldUntil(() => timers.pending === 1);
    await job.stop();
    expect(await all).toBe(2_000);
  });
});
