import { expect, test } from 'vitest';
import { cases } from './cases.ts';
import { markdown, summarize } from './report.ts';
import type { CaseResult, Measurement } from './rounds.ts';

/** A round of a process that answers some requests per second and uses all of its core. */
const round = (process: number, requestsPerSecond: number): Measurement => ({
  process,
  requestsPerSecond,
  bytesPerSecond: requestsPerSecond * 100,
  cpuMicroseconds: 1e6 / requestsPerSecond,
  stubCpuMicroseconds: 10,
  loadCpuMicroseconds: 10,
  p50Ms: 1,
  p99Ms: 2,
  othersBusy: 0.5,
});

function resultOf(raw: readonly Measurement[]): CaseResult {
  const [bench] = cases;
  if (bench === undefined) throw new Error('there is no case');
  const gateway = [round(0, 10_000), round(1, 12_000)];
  return {
    bench,
    rounds: { direct: [round(0, 60_000)], raw, gateway },
    unloaded: { direct: round(0, 60_000), raw: round(0, 20_000), gateway: round(0, 11_000) },
  };
}

test('the gateway is compared with the fastest process of the raw proxy', () => {
  const { ratios, medians, targets } = summarize(
    resultOf([round(0, 14_000), round(1, 22_000), round(0, 14_100), round(1, 21_900)]),
  );
  expect(medians.raw.requestsPerSecond).toBe(21_950);
  expect(ratios?.requestsPerSecond).toBeCloseTo(11_000 / 21_950);
  expect(targets).toHaveLength(3);
});

test('a raw proxy with unsteady rounds gives no ratios', () => {
  const summary = summarize(
    resultOf([round(0, 14_000), round(0, 22_000), round(0, 14_000), round(0, 22_000)]),
  );
  expect(summary).toMatchObject({ ratios: undefined, targets: [] });
  expect(summary.rawSpread).toBeGreaterThan(0.15);
  const report = markdown([summary], { rounds: 4, seconds: 1, connections: 32, processes: 1 });
  expect(report).toContain('| small JSON | unsteady | unsteady | unsteady |');
});
