import { parseArgs } from 'node:util';
import { killAll } from '../bench/processes.ts';
import { formatReport } from './report.ts';
import { soak } from './soak.ts';

const usage = `npm run soak -- --minutes N [options]
Starts gateways with temporary data, sends mixed load, injects faults and kills gateways. Checks that every unit of quota is
accounted for, no response is lost or charged twice, no 5xx is unexpected, and open files (from 1 minute) and memory (from 10
minutes) do not grow after warm-up.

  --minutes N       duration, 0.2 to 1440
  --seed S          whole number that determines the order of requests and faults; default: different in each run
  --database URL    PostgreSQL database, in a temporary schema; default: SQLite with one gateway
  --nodes N         number of gateways on PostgreSQL, 1 to 8, default 2
  --workers N       processes of each gateway on PostgreSQL, 1 to 8, default 1
  --customers N     concurrent clients, 1 to 64, default 10
  --rate N          total requests per second, 1 to 10000; default: unlimited
  --json            print the report as JSON`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      database: { type: 'string' },
      nodes: { type: 'string' },
      workers: { type: 'string', default: '1' },
      customers: { type: 'string', default: '10' },
      rate: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const { minutes, seed, customers, database, workers } = values;
  if (minutes === undefined) throw new Error('--minutes is required, from 0.2 to 1440.');
  if (!(Number(minutes) >= 0.2 && Number(minutes) <= 1_440))
    throw new Error(`--minutes must be from 0.2 to 1440, not ${minutes}.`);
  if (!/^\d{1,9}$/.test(seed))
    throw new Error(`--seed must be a whole number of up to 9 digits, not ${seed}.`);
  if (database !== undefined && !/^postgres(ql)?:\/\//.test(database))
    throw new Error('--database must be a postgres:// address.');
  const nodes = values.nodes ?? (database === undefined ? '1' : '2');
  if (database === undefined && nodes !== '1') throw new Error('--nodes greater than 1 requires --database.');
  if (database === undefined && workers !== '1')
    throw new Error('--workers greater than 1 requires --database.');
  return {
    json: values.json,
    soak: {
      seconds: Number(minutes) * 60,
      seed: Number(seed),
      nodes: parseInteger('nodes', nodes, 8),
      workers: parseInteger('workers', workers, 8),
      clients: parseInteger('customers', customers, 64),
      rate: values.rate === undefined ? undefined : parseInteger('rate', values.rate, 10_000),
      database,
    },
  };
}

/** @throws Error if the value is not a whole number from 1 to `max` */
function parseInteger(option: string, given: string, max: number): number {
  const number = Number(given);
  if (!(Number.isInteger(number) && number >= 1 && number <= max))
    throw new Error(`--${option} must be a whole number from 1 to ${max}, not ${given}.`);
  return number;
}

try {
  const options = readOptions();
  if (options === undefined) console.log(usage);
  else {
    const interrupted = () => {
      killAll();
      process.exit(130);
    };
    process.once('SIGINT', interrupted);
    const report = await soak({ ...options.soak, onPhase: (phase) => console.error(phase) });
    console.log(options.json ? JSON.stringify(report, undefined, 2) : formatReport(report));
    if (report.faults.length > 0) process.exitCode = 1;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  killAll();
}
