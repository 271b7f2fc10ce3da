import { parseArgs } from 'node:util';
import { bodiesMarkdown, measureBodies } from './bodies/measure.ts';
import { measureNeighbor, neighborMarkdown, neighborTargets } from './bodies/neighbor.ts';
import { cases } from './cases.ts';
import { measureHttp } from './http.ts';
import { logSearchMarkdown, measureLogSearch } from './log-search.ts';
import { measureObserve, observeMarkdown } from './observe.ts';
import { measurePeer, peerMarkdown, peerTargets } from './peer.ts';
import { here, killAll } from './processes.ts';
import { measureRelay } from './relay/relay.ts';
import { relayMarkdown } from './relay/report.ts';
import { machine, markdown } from './report.ts';
import { disturbances, loadPerCore, startTargets, verdict } from './verdict.ts';
import { measureWorkers, workersMarkdown } from './workers.ts';

const relayCase = 'relay';
const bodiesCase = 'bodies';
const neighborCase = 'neighbor';
const logsCase = 'logs';
const observeCase = 'observe';
const workersCase = 'workers';
const caseNames = [
  ...cases.map(({ name }) => name),
  relayCase,
  bodiesCase,
  neighborCase,
  logsCase,
  observeCase,
  workersCase,
];

const usage = `npm run bench -- [options]
Measures the gateway against a proxy that checks nothing, and both against the upstream itself. Three cases run only when
they are named: logs searches, adds up and exports a log of a million entries, on PostgreSQL too when DATABASE_URL names one;
observe measures what metrics and traces cost a small call; workers measures a small call on two workers against one, on the
PostgreSQL that DATABASE_URL names, with nothing pinned to a core.

  --case NAME          only this case (repeatable): ${caseNames.join(', ')}
  --rounds N           interleaved rounds, default 6
  --seconds S          length of a round, default 1
  --processes N        raw proxies and gateways that take turns, default 3
  --connections N      keep-alive connections of the HTTP cases, default 32
  --json               print JSON instead of Markdown
  --profile FOLDER     write CPU profiles of the gateway's threads there (slows it down)
  --server FILE        another gateway to measure, default server/main.ts
  --peer FILE          measures the gateway beside another one too: build/start-server.js of @portkey-ai/gateway,
                       installed somewhere outside of this project; default: what BENCH_PEER names`;

const { values } = parseArgs({
  options: {
    case: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '6' },
    processes: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '32' },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
    server: { type: 'string', default: here('../../server/main.ts') },
    peer: { type: 'string', default: process.env.BENCH_PEER ?? '' },
    help: { type: 'boolean', default: false },
  },
});

function positive(name: 'rounds' | 'seconds' | 'connections' | 'processes'): number {
  const value = Number(values[name]);
  if (value > 0 && (name === 'seconds' || Number.isInteger(value))) return value;
  throw new Error(`--${name} must be a positive number, not ${values[name]}`);
}

function database(): string {
  const url = process.env.DATABASE_URL;
  if (url) return url;
  throw new Error('--case workers needs DATABASE_URL');
}

async function run(): Promise<string> {
  const sizes = {
    rounds: positive('rounds'),
    seconds: positive('seconds'),
    connections: positive('connections'),
    processes: positive('processes'),
  };
  const wrong = values.case?.find((name) => !caseNames.includes(name));
  if (wrong !== undefined) throw new Error(`--case must be one of ${caseNames.join(', ')}, not ${wrong}`);
  const isChosen = (name: string) => values.case?.includes(name) ?? true;

  const options = { ...sizes, server: values.server, profile: values.profile };
  const chosen = cases.filter(({ name }) => isChosen(name));
  const load = loadPerCore();
  const { cases: http, starts } =
    chosen.length > 0 ? await measureHttp(chosen, options) : { cases: [], starts: [] };
  const peers = values.peer === '' ? [] : await measurePeer({ ...options, peer: values.peer });
  const relay = isChosen(relayCase) ? await measureRelay(options) : [];
  const bodies = isChosen(bodiesCase) ? await measureBodies(options) : [];
  const neighbor = isChosen(neighborCase) ? await measureNeighbor(options) : [];
  // It fills a database of a million entries, so it is run when it is asked for only.
  const logs = values.case?.includes(logsCase) ? await measureLogSearch(options) : undefined;
  const observed = values.case?.includes(observeCase) ? await measureObserve(options) : [];
  const workers = values.case?.includes(workersCase)
    ? await measureWorkers({ ...options, databaseUrl: database() })
    : [];
  const targets = [
    ...http.flatMap((one) => one.targets),
    ...(starts.length > 0 ? startTargets(starts) : []),
    ...peerTargets(peers),
    ...neighborTargets(neighbor),
  ];
  const disturbed = disturbances(
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
