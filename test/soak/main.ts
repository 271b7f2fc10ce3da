import { parseArgs } from 'node:util';
import { killAll } from '../bench/processes.ts';
import { inWords } from './report.ts';
import { soak } from './soak.ts';

const usage = `npm run soak -- --minutes N [options]
Has customers do all that they can to gateways of their own with throw-away data, disturbs and kills gateways meanwhile, and ends in a verdict:
every unit accounted for, nothing told and lost, nothing twice, no unexpected 5xx, open files (from 1 minute) and memory (from 10) as after
warm-up.

  --minutes N       how long, from 0.2 to 1440
  --seed S          a whole number: the same order of requests and kills; default: another one each time
  --database URL    PostgreSQL, in a schema that is dropped at the end; default: SQLite, with one gateway
  --nodes N         gateways on PostgreSQL, any of which may be killed, 1 to 8, default 2
  --workers N       processes of each gateway on PostgreSQL, any of which may be killed as well, 1 to 8, default 1
  --customers N     at once, 1 to 64, default 10
  --rate N          requests a second, of all customers together, 1 to 10000; default: as fast as they are answered
  --json            print the report as JSON`;

function read() {
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
  if (minutes === undefined) throw new Error('--minutes is missing: say how long, from 0.2 to 1440.');
  if (!(Number(minutes) >= 0.2 && Number(minutes) <= 1_440))
    throw new Error(`--minutes must be from 0.2 to 1440, not ${minutes}.`);
  if (!/^\d{1,9}$/.test(seed))
    throw new Error(`--seed must be a whole number of up to 9 digits, not ${seed}.`);
  if (database !== undefined && !/^postgres(ql)?:\/\//.test(database))
    throw new Error('--database must be a postgres:// address.');
  const wanted = values.nodes ?? (database === undefined ? '1' : '2');
  if (database === undefined && wanted !== '1') throw new Error('--nodes: several share a --database.');
  if (database === undefined && workers !== '1') throw new Error('--workers: several share a --database.');
  return {
    json: values.json,
    soak: {
      seconds: Number(minutes) * 60,
      seed: Number(seed),
      nodes: whole('nodes', wanted, 8),
      workers: whole('workers', workers, 8),
      customers: whole('customers', customers, 64),
      rate: values.rate === undefined ? undefined : whole('rate', values.rate, 10_000),
      database,
    },
  };
}

/** @throws Error when it is no whole number from 1 to `most` */
function whole(option: string, given: string, most: number): number {
  const number = Number(given);
  if (!(Number.isInteger(number) && number >= 1 && number <= most))
    throw new Error(`--${option} must be a whole number from 1 to ${most}, not ${given}.`);
  return number;
}

try {
  const asked = read();
  if (asked === undefined) console.log(usage);
  else {
    const interrupted = () => {
      killAll();
      process.exit(130);
    };
    process.once('SIGINT', interrupted);
    const report = await soak({ ...asked.soak, onPhase: (phase) => console.error(phase) });
    console.log(asked.json ? JSON.stringify(report, undefined, 2) : inWords(report));
    if (report.faults.length > 0) process.exitCode = 1;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  killAll();
}
