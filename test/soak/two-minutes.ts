import { killAll } from '../bench/processes.ts';
import { databaseUrl, type Engine, engines } from '../store/engines.ts';
import { inWords } from './report.ts';
import { soak } from './soak.ts';

/**
 * The part of `npm test` that takes its time and little else: a minute of soak on each engine, both at once. Few requests a
 * second are enough for kills, cut connections, reloads and deleted keys to meet every kind of call. The seed is that of the day.
 */
const seed = Math.floor(Date.now() / 86_400_000);

const run = (engine: Engine) =>
  soak({
    seconds: 60,
    seed,
    database: engine === 'postgres' ? databaseUrl : undefined,
    nodes: engine === 'postgres' ? 2 : 1,
    workers: 1,
    customers: 6,
    rate: 5,
    onPhase: (phase) => console.error(`${engine}: ${phase}`),
  });

try {
  const reports = await Promise.all(engines.map(run));
  for (const report of reports) console.log(inWords(report));
  // A soak in which nothing was done and nobody killed proves nothing.
  const idle = reports.filter(({ kills, tasks, books }) => kills === 0 || tasks === 0 || books.spent === 0);
  for (const { engine } of idle) console.log(`FAILED: hardly anything was done on ${engine}`);
  if (idle.length > 0 || reports.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  killAll();
}
