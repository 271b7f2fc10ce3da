import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bodiesMarkdown, measureBodies } from './bodies/measure.ts';
import { measureNeighbor, neighborMarkdown, neighborTargets } from './bodies/neighbor.ts';
import { cases } from './cases.ts';
import { checkOut } from './checkout.ts';
import { measureHttp } from './http.ts';
import { logSearchMarkdown, measureLogSearch } from './log-search.ts';
import { measureObserve, observeMarkdown } from './observe.ts';
import { maxOtherLoad, OtherLoad } from './other-load.ts';
import { measurePeer, peerMarkdown, peerTargets } from './peer.ts';
import { here, killAll } from './processes.ts';
import { VerdictTable, waitForIdle } from './record.ts';
import { measureRelay } from './relay/relay.ts';
import { relayMarkdown, relayTargets } from './relay/report.ts';
import { measureSessions, sessionsMarkdown, sessionsTargets } from './relay/sessions.ts';
import { machine, markdown, pathTargets } from './report.ts';
import type { VariantOptions } from './variants.ts';
import { busyMachine, findDisturbances, loadPerCore, minSamples, startTargets, verdict } from './verdict.ts';
import { type Comparison, compareVersions, comparisonMarkdown } from './versions.ts';
import { measureWorkers, workersMarkdown, workersTargets } from './workers.ts';

const relayCase = 'relay';
const sessionsCase = 'sessions';
const bodiesCase = 'bodies';
const neighborCase = 'neighbor';
const logsCase = 'logs';
const observeCase = 'observe';
const workersCase = 'workers';
const caseNames = [
  ...cases.map(({ name }) => name),
  relayCase,
  sessionsCase,
  bodiesCase,
  neighborCase,
  logsCase,
  observeCase,
  workersCase,
];

const usage = `npm run bench -- [options]
Compares the gateway with a minimal proxy, and both with direct calls to the upstream. Four cases run only if they are named:
"logs" searches, aggregates and exports a log of a million entries, also on PostgreSQL if DATABASE_URL is set. "observe" measures
the cost of metrics and traces for a small call. "sessions" measures delay and memory of 1,000 open realtime sessions. "workers"
compares a small call on two workers with one worker, on the PostgreSQL of DATABASE_URL, without pinning processes to cores.

  --case NAME          run only this case (repeatable): ${caseNames.join(', ')}
  --rounds N           number of interleaved rounds on each process, default 6
  --seconds S          duration of a round, default 1
  --processes N        number of raw proxies and gateways, used in turn, default 3
  --connections N      keep-alive connections of the HTTP cases, default 32
  --json               print JSON instead of Markdown
  --profile FOLDER     write CPU profiles of the gateway to this folder (slower)
  --server FILE        main module of the gateway, default server/main.ts
  --compare REF        compare the HTTP cases with the gateway of another commit instead of the raw proxy. The default of
                       --processes is 12 pairs then, and at least ${minSamples} are needed
  --record FILE        append the verdicts of --compare to the Markdown table FILE. The default of --compare is then the last
                       commit that this table has a verdict for, or the parent of this commit. On a busy machine, waits up
                       to 3 minutes, then measures nothing and records "busy"
  --peer FILE          also compare with another gateway: build/start-server.js of @portkey-ai/gateway, installed outside
                       of this project; default: BENCH_PEER`;

const { values } = parseArgs({
  options: {
    case: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '6' },
    processes: { type: 'string' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '32' },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
    server: { type: 'string', default: here('../../server/main.ts') },
    compare: { type: 'string' },
    record: { type: 'string' },
    peer: { type: 'string', default: process.env.BENCH_PEER ?? '' },
    help: { type: 'boolean', default: false },
  },
});

function readPositive(name: 'rounds' | 'seconds' | 'connections' | 'processes'): number {
  const value = Number(values[name]);
  if (value > 0 && (name === 'seconds' || Number.isInteger(value))) return value;
  throw new Error(`--${name} must be a positive number, not ${values[name]}`);
}

function readDatabaseUrl(): string {
  const url = process.env.DATABASE_URL;
  if (url) return url;
  throw new Error('--case workers requires DATABASE_URL');
}

/**
 * Compares this checkout with another commit, and appends the verdicts to the table of --record.
 *
 * @param loadBefore load per core before the start
 */
async function compare(
  chosen: typeof cases,
  options: VariantOptions & { server: string },
  loadBefore: number,
): Promise<string> {
  const table = values.record === undefined ? undefined : await VerdictTable.open(values.record);
  const base = await checkOut(values.compare ?? table?.base ?? 'HEAD~1');
  try {
    const load = table === undefined ? loadBefore : await waitForIdle(loadPerCore, delay);
    const disturbed = findDisturbances(load, []);
    const isSkipped = table !== undefined && disturbed.length > 0;
    const comparisons: Comparison[] = [];
    for (const bench of chosen) {
      const others = new OtherLoad();
      const measured = isSkipped ? [] : await compareVersions([bench], { ...options, base: base.server });
      comparisons.push(...measured);
      const otherLoad = isSkipped ? undefined : others.perCore();
      const isBusy = (otherLoad ?? 0) > maxOtherLoad;
      if (isBusy)
        disturbed.push(`other processes used ${otherLoad?.toFixed(1)} of each core during ${bench.title}`);
      await table?.append(isBusy ? [] : measured, {
        base: base.commit,
        caseName: bench.name,
        load,
        otherLoad,
      });
    }
    if (values.json)
      return JSON.stringify({ machine: machine(), base: base.commit, disturbed, comparisons }, null, 2);
    return [
      `${machine()}. Compared with ${base.commit}.`,
      ...(isSkipped ? [] : [comparisonMarkdown(comparisons)]),
      ...(disturbed.length > 0 ? [busyMachine(disturbed)] : []),
    ].join('\n\n');
  } finally {
    await base.remove();
  }
}

async function run(): Promise<string> {
  const isComparison = values.compare !== undefined || values.record !== undefined;
  const sizes = {
    rounds: readPositive('rounds'),
    seconds: readPositive('seconds'),
    connections: readPositive('connections'),
    processes: values.processes === undefined ? (isComparison ? 12 : 3) : readPositive('processes'),
  };
  if (isComparison && sizes.processes < minSamples)
    throw new Error(`--processes must be at least ${minSamples} for a comparison, not ${sizes.processes}`);
  const unknown = values.case?.find((name) => !caseNames.includes(name));
  if (unknown !== undefined) throw new Error(`--case must be one of ${caseNames.join(', ')}, not ${unknown}`);
  const isChosen = (name: string) => values.case?.includes(name) ?? true;

  const options = { ...sizes, server: values.server, profile: values.profile };
  const chosen = cases.filter(({ name }) => isChosen(name));
  if (isComparison && chosen.length === 0)
    throw new Error(`--case must be one of ${cases.map(({ name }) => name).join(', ')} for a comparison.`);
  const load = loadPerCore();
  if (isComparison) return await compare(chosen, options, load);
  const { cases: http, starts } =
    chosen.length > 0 ? await measureHttp(chosen, options) : { cases: [], starts: [] };
  const peers = values.peer === '' ? [] : await measurePeer({ ...options, peer: values.peer });
  const relay = isChosen(relayCase) ? await measureRelay(options) : [];
  // It keeps a complete core busy for a minute, so it runs only if it is named.
  const sessions = values.case?.includes(sessionsCase) ? await measureSessions(options) : undefined;
  const bodies = isChosen(bodiesCase) ? await measureBodies(options) : [];
  const neighbor = isChosen(neighborCase) ? await measureNeighbor(options) : [];
  // It creates a database of a million entries, so it runs only if it is named.
  const logs = values.case?.includes(logsCase) ? await measureLogSearch(options) : undefined;
  const observed = values.case?.includes(observeCase) ? await measureObserve(options) : [];
  const workers = values.case?.includes(workersCase)
    ? await measureWorkers({ ...options, databaseUrl: readDatabaseUrl() })
    : [];
  const targets = [
    ...http.flatMap((one) => one.targets),
    ...pathTargets(http),
    ...(starts.length > 0 ? startTargets(starts) : []),
    ...peerTargets(peers),
    ...relayTargets(relay),
    ...(sessions === undefined ? [] : sessionsTargets(sessions)),
    ...neighborTargets(neighbor),
    ...workersTargets(workers),
  ];
  const disturbed = findDisturbances(
    load,
    http.map(({ rawSpread }) => rawSpread),
  );
  if (values.json)
    return JSON.stringify(
      {
        machine: machine(),
        ...sizes,
        targets,
        disturbed,
        cases: http,
        starts,
        peers,
        relay,
        sessions,
        bodies,
        neighbor,
        logs,
        observed,
        workers,
      },
      null,
      2,
    );
  return [
    `${machine()}.`,
    ...(targets.length > 0 ? [verdict(targets, disturbed)] : []),
    ...(http.length > 0 ? [markdown(http, sizes)] : []),
    ...(peers.length > 0 ? [peerMarkdown(peers)] : []),
    ...(relay.length > 0 ? [relayMarkdown(relay, sizes)] : []),
    ...(sessions === undefined ? [] : [sessionsMarkdown(sessions)]),
    ...(bodies.length > 0 ? [bodiesMarkdown(bodies, sizes)] : []),
    ...(neighbor.length > 0 ? [neighborMarkdown(neighbor)] : []),
    ...(logs === undefined ? [] : [logSearchMarkdown(logs)]),
    ...(observed.length > 0 ? [observeMarkdown(observed)] : []),
    ...(workers.length > 0 ? [workersMarkdown(workers)] : []),
  ].join('\n\n');
}

if (values.help) {
  console.log(usage);
} else {
  try {
    console.log(await run());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    killAll();
  }
}
