import { afterAll, expect, test } from 'vitest';
import { killAll } from '../bench/processes.ts';
import { databaseUrl, engines } from '../store/engines.ts';
import { formatReport } from './report.ts';
import { soak } from './soak.ts';

/** The seed changes daily: runs of one day repeat the same order, and runs of many days cover more. */
const seed = Math.floor(Date.now() / 86_400_000);

afterAll(killAll);

// A low rate is enough for kills, terminated connections, reloads and deleted keys to affect every kind of call.
test.concurrent.each(engines)('a minute of soak on %s', { timeout: 600_000 }, async (engine) => {
  const report = await soak({
    seconds: 60,
    seed,
    database: engine === 'postgres' ? databaseUrl : undefined,
    nodes: engine === 'postgres' ? 2 : 1,
    workers: 1,
    clients: 6,
    rate: 5,
    onPhase: () => {},
  });
  const { faults, kills, tasks, ledger } = report;
  expect(faults, formatReport(report)).toEqual([]);
  // Without kills, tasks and charges, the result would be meaningless.
  expect(Math.min(kills, tasks, ledger.spent), formatReport(report)).toBeGreaterThan(0);
});
