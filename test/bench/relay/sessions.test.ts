import { expect, test } from 'vitest';
import type { RelayMeasurement } from './rounds.ts';
import { sessionsMarkdown, sessionsTargets, summarizeSessions } from './sessions.ts';

const round = (delaysMs: readonly number[]): RelayMeasurement => ({
  framesPerSecond: 10_000,
  cpuMicroseconds: 50,
  othersBusy: 0.5,
  delaysMs,
});
/** Delays from `first` in steps of 1 ms. */
const upFrom = (first: number) => Array.from({ length: 101 }, (_, index) => first + index);

const summary = summarizeSessions(
  {
    mode: 'conversation',
    sessions: 1000,
    rounds: {
      direct: [round(upFrom(0)), round(upFrom(0))],
      raw: [round(upFrom(5)), round(upFrom(5))],
      gateway: [round(upFrom(5)), round(upFrom(15))],
    },
  },
  { raw: 20, gateway: 101 },
);

test('percentiles are those of the frames of all rounds', () => {
  expect(summary.delays.raw).toMatchObject({ frames: 202, p50Ms: 55, p99Ms: 104 });
  expect(summary.delays.gateway).toMatchObject({ frames: 202, p50Ms: 60, p99Ms: 112 });
  expect(summary.added).toEqual({ direct: { p50Ms: 10, p99Ms: 13 }, raw: { p50Ms: 5, p99Ms: 8 } });
});

test('the targets are the added delay and the memory of a session', () => {
  expect(sessionsTargets(summary)).toEqual([
    expect.objectContaining({ value: 13, limit: 'at most 10', reached: false }),
    expect.objectContaining({ value: 8, limit: 'at most 10', reached: true }),
    expect.objectContaining({ value: 101, limit: 'at most 100', reached: false }),
  ]);
});

test('the report has the CPU and memory of the relays only', () => {
  const rows = sessionsMarkdown(summary).split('\n').slice(-3);
  expect(rows).toEqual([
    '| direct | 202 | 50.00 | 99.00 |  |  | 50 % |',
    '| raw relay | 202 | 55.00 | 104.00 | 50 | 20 | 50 % |',
    '| gateway | 202 | 60.00 | 112.00 | 50 | 101 | 50 % |',
  ]);
});
