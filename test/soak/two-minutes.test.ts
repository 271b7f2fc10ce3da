import { afterAll, expect, test } from 'vitest';
import { killAll } from '../bench/processes.ts';
import { databaseUrl, engines } from '../store/engines.ts';
import { inWords } from './report.ts';
import { soak } from './soak.ts';

/** The seed changes daily, so that runs of one day are the same and runs of many days cover more. */
const seed = Math.floor(Date.now() / 86_400_000);

afterAll(killAll);

// Few requests per second suffice for kills, cut connections, reloads and deleted keys to meet each kind of call.
test.concurrent.each(engines)('a minute of soak on %s', { timeout: 600_000 }, async (engine) => {
  const report = await soak({
    seconds: 60,
    seed,
    database: engine === 'postgres' ? databaseUrl : undefined,
    nodes: engine === 'postgres' ? 2 : 1,
    workers: 1,
    customers: 6,
    rate: 5,
    onPhase: () => {},
  });
  const { faults, kills, tasks, books } = report;
  expect(faults, inWords(report)).toEqual([]);
  // Without work and kills, the soak proves nothing.
  expect(Math.min(kills, tasks, books.spent), inWords(report)).toBeGreaterThan(0);
});
