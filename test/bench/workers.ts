import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import pg from 'pg';
import { cases, characters } from './cases.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import { here, LoadProcess, ServerProcess } from './processes.ts';
import { databaseProcesses, processorTime } from './processor-time.ts';
import { table } from './report.ts';
import { checkOne, requestText } from './rounds.ts';
import { median, type Target, target } from './verdict.ts';

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
  /** CPU time of the database per call. Undefined: it runs on another machine. */
  databaseCpuMicroseconds: number | undefined;
  /** Expected ratio of requests per second to one worker if each worker has a core of its own, calculated from the CPU times. */
  ratioOnOwnCores: number;
  p99Ms: number;
  /** Resident memory of all processes of the gateway after the rounds. */
  residentMb: number;
}

/** The compiler improves the code for 10 to 20 seconds. */
const warmUpSeconds = 20;
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
  const measured = counts.map(() => [] as Round[]);
  try {
    let bodyBytes = 0;
    const round = async (gateway: (typeof gateways)[number], seconds: number) => {
      const { server } = gateway.running;
      const { port } = server;
      const processes = [server.pid ?? 0, ...(await server.workers())];
      const ofDatabase = await databaseProcesses(database);
      const before = [processorTime(processes), processorTime(ofDatabase)] as const;
      const result = await load.run({ port, request, connections: options.connections, seconds, bodyBytes });
      const perCall = (later: number, earlier: number) => (later - earlier) / result.responses;
      gateway.responses += result.responses;
      return {
        ...result,
        cpu: perCall(processorTime(processes), before[0]),
        databaseCpu: ofDatabase.length === 0 ? undefined : perCall(processorTime(ofDatabase), before[1]),
      };
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
      const cpuOf = (of: readonly Round[]) => median(of.map(({ cpu }) => cpu));
      const databaseCpus = rounds.flatMap(({ databaseCpu = [] }) => databaseCpu);
      return {
        workers,
        requestsPerSecond: median(rounds.map(rate)),
        requestsRatio: median(
          rounds.map((result, index) => {
            const base = one[index];
            return base === undefined ? Number.NaN : rate(result) / rate(base);
          }),
        ),
        cpuMicroseconds: cpuOf(rounds),
        databaseCpuMicroseconds: databaseCpus.length === 0 ? undefined : median(databaseCpus),
        ratioOnOwnCores: (workers * cpuOf(one)) / cpuOf(rounds),
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

interface Round extends LoadResult {
  /** CPU time of all processes of the gateway per call, in microseconds. */
  cpu: number;
  /** The same of the database. Undefined: it runs on another machine. */
  databaseCpu: number | undefined;
}

/** Targets of the project. */
export function workersTargets([one, two]: readonly WorkersResult[]): Target[] {
  if (one === undefined || two === undefined) return [];
  const { databaseCpuMicroseconds: database } = one;
  return [
    target('settled calls/s on PostgreSQL, one worker', one.requestsPerSecond, 'at least', 8_000),
    target('requests/s, two workers / one, on shared cores', two.requestsRatio, 'at least', 1),
    target('the same, each with a core of its own, by CPU', two.ratioOnOwnCores, 'at least', 1.7),
    ...(database === undefined
      ? []
      : [target('CPU of PostgreSQL per settled call, µs', database, 'at most', 60)]),
  ];
}

export function workersMarkdown(results: readonly WorkersResult[]): string {
  const rows = results.map((one) => [
    String(one.workers),
    one.requestsPerSecond.toFixed(0),
    one.requestsRatio.toFixed(2),
    one.ratioOnOwnCores.toFixed(2),
    one.cpuMicroseconds.toFixed(0),
    one.databaseCpuMicroseconds?.toFixed(0) ?? 'elsewhere',
    one.p99Ms.toFixed(1),
    one.residentMb.toFixed(0),
  ]);
  const head = [
    'workers',
    'requests/s',
    'against one',
    'with a core each',
    'CPU a call, µs',
    'of PostgreSQL',
    'p99, ms',
    'resident, MB',
  ];
  const shared = `A small call on PostgreSQL; the workers share ${availableParallelism()} cores with the load tool, the upstream and, if it is here, the database.`;
  return `${shared}\n\n${table(head, rows)}`;
}
