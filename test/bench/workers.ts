import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import pg from 'pg';
import { cases, characters } from './cases.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import { here, LoadProcess, ServerProcess } from './processes.ts';
import { table } from './report.ts';
import { checkOne, requestText } from './rounds.ts';
import { median } from './verdict.ts';

const counts = [1, 2] as const;

export interface WorkersOptions {
  rounds: number;
  seconds: number;
  connections: number;
  /** The gateway's main module. */
  server: string;
  /** URL of the PostgreSQL database that gets a schema per gateway. */
  databaseUrl: string;
}

/** Results of a small call. The workers share all cores with the upstream, the load tool and the database. */
export interface WorkersResult {
  workers: number;
  /** Median over rounds. */
  requestsPerSecond: number;
  /** Median ratio to one worker in the same round. */
  requestsRatio: number;
  /** CPU time of all processes of the gateway per call. */
  cpuMicroseconds: number;
  p99Ms: number;
  /** Resident memory of all processes of the gateway after the rounds. */
  residentMb: number;
}

const warmUpSeconds = 5;
/** Length of a tick of CPU times on Linux. */
const tickMicroseconds = 10_000;

/** Compares a small call on one and two workers, interleaved. Processes are not pinned to cores. */
export async function measureWorkers(options: WorkersOptions): Promise<WorkersResult[]> {
  const [bench] = cases;
  if (bench === undefined) throw new Error('there is no small call');
  const database = new pg.Client({ connectionString: options.databaseUrl });
  await database.connect();
  const upstream = await ServerProcess.start({ module: here('upstream.ts'), core: 'all' });
  const load = new LoadProcess<LoadRequest, LoadResult>('load.ts', 'all');
  const request = requestText(bench);
  const gateways: { workers: number; schema: string; running: RunningGateway; responses: number }[] = [];
  const measured = counts.map(() => [] as (LoadResult & { cpu: number })[]);
  try {
    let bodyBytes = 0;
    const round = async (gateway: (typeof gateways)[number], seconds: number) => {
      const { server } = gateway.running;
      const before = await cpuUsed(server);
      const { port } = server;
      const result = await load.run({ port, request, connections: options.connections, seconds, bodyBytes });
      gateway.responses += result.responses;
      return { ...result, cpu: ((await cpuUsed(server)) - before) / result.responses };
    };
    for (const workers of counts) {
      const schema = `bench_${randomUUID().replaceAll('-', '')}`;
      await database.query(`create schema ${schema}`);
      const url = new URL(options.databaseUrl);
      url.searchParams.set('options', `-csearch_path=${schema}`);
      const environment = { DATABASE_URL: url.href, WORKERS: String(workers) };
      const running = await startGateway(
        options.server,
        upstream.origin,
        undefined,
        ['native'],
        environment,
        'all',
      );
      const gateway = { workers, schema, running, responses: 1 };
      gateways.push(gateway);
      bodyBytes = await checkOne(`${workers} workers`, running.server, bench);
      await round(gateway, warmUpSeconds);
    }
    for (let index = 0; index < options.rounds; index += 1)
      for (const [gatewayIndex, gateway] of gateways.entries())
        measured[gatewayIndex]?.push(await round(gateway, options.seconds));
    const residents = await Promise.all(
      gateways.map(async ({ running }) => (await running.server.residentBytes()) / 1e6),
    );
    for (const { running, responses } of gateways)
      await running.stop({ responses, charged: responses * characters });
    await Promise.all([upstream.stop(), load.stop()]);
    const rate = ({ responses, seconds }: LoadResult) => responses / seconds;
    return counts.map((workers, gatewayIndex) => {
      const rounds = measured[gatewayIndex] ?? [];
      const one = measured[0] ?? [];
      return {
        workers,
        requestsPerSecond: median(rounds.map(rate)),
        requestsRatio: median(
          rounds.map((result, index) => {
            const base = one[index];
            return base === undefined ? Number.NaN : rate(result) / rate(base);
          }),
        ),
        cpuMicroseconds: median(rounds.map(({ cpu }) => cpu)),
        p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
        residentMb: residents[gatewayIndex] ?? Number.NaN,
      };
    });
  } finally {
    await Promise.all(gateways.map(({ running }) => running.remove()));
    for (const { schema } of gateways) await database.query(`drop schema if exists ${schema} cascade`);
    await database.end();
  }
}

/** Reads the CPU time of all processes of a gateway in microseconds. Linux only. */
async function cpuUsed(server: ServerProcess): Promise<number> {
  let microseconds = 0;
  for (const one of [server.pid, ...(await server.workers())]) {
    // The program name is in parentheses and can contain spaces.
    const fields = readFileSync(`/proc/${one}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
      .map(Number);
    microseconds += ((fields[11] ?? 0) + (fields[12] ?? 0)) * tickMicroseconds;
  }
  return microseconds;
}

export function workersMarkdown(results: readonly WorkersResult[]): string {
  const rows = results.map((one) => [
    String(one.workers),
    one.requestsPerSecond.toFixed(0),
    one.requestsRatio.toFixed(2),
    one.cpuMicroseconds.toFixed(0),
    one.p99Ms.toFixed(1),
    one.residentMb.toFixed(0),
  ]);
  const head = ['workers', 'requests/s', 'against one', 'CPU a call, µs', 'p99, ms', 'resident, MB'];
  const shared = `A small call on PostgreSQL; the workers share ${availableParallelism()} cores with the load tool, the upstream and, if it is here, the database.`;
  return `${shared}\n\n${table(head, rows)}`;
}
