import { parseArgs } from 'node:util';
import { bodiesMarkdown, measureBodies } from './bodies/measure.ts';
import { measureNeighbor, neighborMarkdown, neighborTargets } from './bodies/neighbor.ts';
import { cases } from './cases.ts';
import { checkOut } from './checkout.ts';
import { measureHttp } from './http.ts';
import { logSearchMarkdown, measureLogSearch } from './log-search.ts';
import { measureObserve, observeMarkdown } from './observe.ts';
import { measurePeer, peerMarkdown, peerTargets } from './peer.ts';
import { here, killAll } from './processes.ts';
import { measureRelay } from './relay/relay.ts';
import { relayMarkdown, relayTargets } from './relay/report.ts';
import { measureSessions, sessionsMarkdown, sessionsTargets } from './relay/sessions.ts';
import { machine, markdown, pathTargets } from './report.ts';
import type { VariantOptions } from './variants.ts';
import { busyMachine, findDisturbances, loadPerCore, minSamples, startTargets, verdict } from './verdict.ts';
import { compareVersions, comparisonMarkdown } from './versions.ts';
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

/** Compares this checkout with another commit. */
async function compare(
  ref: string,
  chosen: typeof cases,
  options: VariantOptions & { server: string },
  load: number,
): Promise<string> {
  const base = await checkOut(ref);
  try {
    const comparisons = await compareVersions(chosen, { ...options, base: base.server });
    const disturbed = findDisturbances(load, []);
    if (values.json)
      return JSON.stringify({ machine: machine(), base: base.commit, disturbed, comparisons }, null, 2);
    return [
      `${machine()}. Compared with ${base.commit}.`,
      comparisonMarkdown(comparisons),
      ...(disturbed.length > 0 ? [busyMachine(disturbed)] : []),
    ].join('\n\n');
  } finally {
    await base.remove();
  }
}

async function run(): Promise<string> {
  const sizes = {
    rounds: readPositive('rounds'),
    seconds: readPositive('seconds'),
    connections: readPositive('connections'),
    processes:
      values.processes === undefined ? (values.compare === undefined ? 3 : 12) : readPositive('processes'),
  };
  if (values.compare !== undefined && sizes.processes < minSamples)
    throw new Error(`--processes must be at least ${minSamples} with --compare, not ${sizes.processes}`);
  const unknown = values.case?.find((name) => !caseNames.includes(name));
  if (unknown !== undefined) throw new Error(`--case must be one of ${caseNames.join(', ')}, not ${unknown}`);
  const isChosen = (name: string) => values.case?.includes(name) ?? true;

  const options = { ...sizes, server: values.server, profile: values.profile };
  const chosen = cases.filter(({ name }) => isChosen(name));
  const load = loadPerCore();
  if (values.compare !== undefined) return await compare(values.compare, chosen, options, load);
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
