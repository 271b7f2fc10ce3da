import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { Audit } from '../../server/store/queries/audit.ts';
import { createDeployment, type Deployment } from '../faults/deployment.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { CallbackServer } from './callback-server.ts';
import { largeGrant, SoakClients, type SoakClientsOptions } from './clients.ts';
import { FaultInjector } from './fault-injector.ts';
import { ledgerFaults, readBalances, waitUntilIdle } from './ledger-checks.ts';
import { type Footprint, GatewayNode } from './node.ts';
import { countFiles, describeGrowth } from './open-files.ts';
import { maxWaitMs, Recorder, type SoakKey } from './recorder.ts';
import { price, speechOf } from './requests.ts';

export interface SoakOptions {
  seconds: number;
  seed: number;
  /** URL of the PostgreSQL database that gets a schema for the run. Undefined: SQLite. */
  database: string | undefined;
  /** Number of gateways that share the database. One on SQLite. */
  nodes: number;
  /** Processes of each gateway. One on SQLite. */
  workers: number;
  /** Number of concurrent clients. */
  clients: number;
  /** Total requests per second. Undefined: unlimited. */
  rate: number | undefined;
  /** Called with each phase and each fault. */
  onPhase: (phase: string) => void;
}

export interface SoakReport {
  engine: 'sqlite' | 'postgres';
  seed: number;
  seconds: number;
  calls: number;
  tasks: number;
  kills: number;
  outcomes: Record<string, number>;
  slowest: Recorder['slowest'];
  ledger: Omit<Audit, 'problems' | 'more'>;
  /** Footprint of each idle gateway, after warm-up and at the end. */
  footprints: { warm: Footprint; end: Footprint }[];
  /** Which footprints are checked. In a short run, connections and memory are not stable yet. */
  checked: { openFiles: boolean; memory: boolean };
  faults: string[];
}

/** Shares of the duration: with kills, warm-up, and steady load without growth. */
const shares = { kills: 0.4, warm: 0.3, steady: 0.3 };
/** Quota of a small key: enough for some calls. */
const smallGrant = 3_000;
/** Allowed relative growth of resident memory and open files, and allowed number of additional files. */
const maxGrowth = 0.1;
const minExtraFiles = 4;
/** Minimum warm-up in seconds before each value is checked. */
const warmSeconds = { openFiles: 15, memory: 180 };
/** Time until idle keep-alive connections are closed. The hosts here allow one minute. */
const idleMs = 75_000;

/** Runs mixed load with faults on new gateways. Returns a report with the faults found. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { seconds, seed, database } = options;
  const engine = database === undefined ? 'sqlite' : 'postgres';
  const recorder = new Recorder(options.onPhase);
  const deployment = await createDeployment(engine, database === undefined ? {} : { server: database });
  const onCrash = (description: string) => recorder.faults.push(description);
  const nodes = Array.from(
    { length: options.nodes },
    (_, index) =>
      new GatewayNode({
        options: deployment.options,
        core: index === 0 ? 'measured' : 'others',
        workers: options.workers,
        onCrash,
      }),
  );
  const callbacks = await CallbackServer.start();
  try {
    await allowCallbacks(deployment.options.config);
    const keys = await createAllKeys(deployment, seconds);
    const random = seededRandom(seed);
    const clients = new SoakClients({ nodes, recorder, random, ...keys, callbacks, rate: options.rate });
    const { config } = deployment.options;
    const hasWorkers = options.workers > 1;
    const faultInjector = new FaultInjector({
      nodes,
      clients,
      recorder,
      random,
      config,
      database,
      hasWorkers,
    });
    for (const node of nodes) await node.start();
    const warm = seconds * shares.warm;
    const checked = { openFiles: warm >= warmSeconds.openFiles, memory: warm >= warmSeconds.memory };
    const footprints = await runPhases(
      { clients, faultInjector, nodes },
      options,
      checked.openFiles ? idleMs : 0,
    );
    options.onPhase('waiting for unfinished tasks');
    await clients.finishTasks(maxWaitMs);
    for (const path of recorder.openTasks.keys()) recorder.faults.push(`${path}: the task never ended`);
    recorder.faults.push(...(await callbacks.faults(recorder.callbackUrls, maxWaitMs)));
    await waitUntilIdle(deployment.options, maxWaitMs);
    await spendRemainingQuota(clients, deployment, recorder);
    await waitUntilIdle(deployment.options, maxWaitMs);
    for (const node of nodes) await node.stop();
    const { problems, more: _, ...ledger } = await waitUntilIdle(deployment.options, 0);
    recorder.faults.push(...problems.map(({ subject, problem }) => `${subject}: ${problem}`));
    if (ledger.open + ledger.held + ledger.leased > 0)
      recorder.faults.push(`idle, but ${ledger.open} are open, ${ledger.held} held, ${ledger.leased} leased`);
    recorder.faults.push(...(await ledgerFaults(deployment.options, recorder)));
    recorder.faults.push(...footprints.flatMap((one) => footprintFaults(one, checked)));
    const outcomes = Object.fromEntries(
      [...recorder.outcomes].toSorted(([balances], [right]) => balances.localeCompare(right)),
    );
    return {
      engine,
      seed,
      seconds,
      calls: Object.values(outcomes).reduce((sum, count) => sum + count, 0),
      tasks: recorder.tasks,
      kills: nodes.reduce((sum, { kills }) => sum + kills, 0),
      outcomes,
      slowest: recorder.slowest,
      ledger,
      footprints,
      checked,
      faults: recorder.faults,
    };
  } finally {
    await Promise.allSettled([...nodes.map((node) => node.stop()), callbacks.close()]);
    await deployment.remove();
  }
}

type SoakKeys = Pick<SoakClientsOptions, 'largeKeys' | 'smallKeys' | 'observer'>;

/** Creates keys that never run out, many small ones, and an unlimited one. */
async function createAllKeys({ options, token }: Deployment, seconds: number): Promise<SoakKeys> {
  const store = await openStore(options);
  const createKey = async (name: string, granted: number, unlimitedQuota = false): Promise<SoakKey> => {
    const secret = generateKey();
    const names = { name, keyHash: hashKey(secret), keyHint: keyHint(secret) };
    const { userId } = token;
    const { id } = await store.run('createToken', {
      userId,
      ...names,
      remainQuota: granted,
      unlimitedQuota,
      now: 1,
    });
    return { id, secret, granted };
  };
  // Sequential, because thousands of concurrent commands would time out waiting for a database connection.
  const createKeys = async (count: number, name: string, granted: number) => {
    const keys: SoakKey[] = [];
    while (keys.length < count) keys.push(await createKey(name, granted));
    return keys;
  };
  try {
    return {
      largeKeys: await createKeys(3, 'large', largeGrant * 1_000),
      smallKeys: await createKeys(Math.min(2_000, 10 + Math.ceil(seconds)), 'small', smallGrant),
      observer: await createKey('observer', 0, true),
    };
  } finally {
    await store.close();
  }
}

/** Allows callbacks to private addresses. */
async function allowCallbacks(config: string): Promise<void> {
  const settings = JSON.parse(await readFile(config, 'utf8')) as object;
  await writeFile(config, JSON.stringify({ ...settings, callbacks: { allow_private: true } }));
}

interface SoakSetup {
  clients: SoakClients;
  faultInjector: FaultInjector;
  nodes: readonly GatewayNode[];
}

async function runPhases(
  setup: SoakSetup,
  { seconds, clients: count, onPhase }: SoakOptions,
  restMs: number,
): Promise<SoakReport['footprints']> {
  const { clients, faultInjector } = setup;
  const runPhase = async (phase: string, share: number, kills: boolean) => {
    onPhase(phase);
    const ms = seconds * 1_000 * share;
    await Promise.all([clients.work(count, ms), faultInjector.run(ms, kills)]);
  };
  await runPhase('load, with kills', shares.kills, true);
  await runPhase('load, warm-up', shares.warm, false);
  const warm = await readFootprints(setup, restMs);
  await runPhase('load, steady', shares.steady, false);
  const end = await readFootprints(setup, restMs);
  return warm.flatMap((one, index) => {
    const later = end[index];
    return later === undefined ? [] : [{ warm: one, end: later }];
  });
}

/** Reads the footprint of each gateway after its idle connections have closed, or after `restMs`. */
async function readFootprints({ clients, nodes }: SoakSetup, restMs: number): Promise<Footprint[]> {
  // The first search starts a thread, which opens files.
  await clients.searchLogs();
  await clients.finishTasks(maxWaitMs);
  return Promise.all(
    nodes.map(async (node) => {
      const deadline = performance.now() + restMs;
      for (;;) {
        const footprint = await node.footprint();
        if (footprint.otherConnections === 0 || performance.now() > deadline) return footprint;
        await delay(1_000);
      }
    }),
  );
}

function footprintFaults(
  { warm, end }: SoakReport['footprints'][number],
  checked: SoakReport['checked'],
): string[] {
  const faults: string[] = [];
  if (checked.memory && end.residentMb > warm.residentMb * (1 + maxGrowth))
    faults.push(`resident memory grew from ${warm.residentMb.toFixed(1)} to ${end.residentMb.toFixed(1)} MB`);
  const [before, after] = [countFiles(warm.openFiles), countFiles(end.openFiles)];
  if (checked.openFiles && after > Math.max(before * (1 + maxGrowth), before + minExtraFiles))
    faults.push(
      `open files grew from ${before} to ${after}: ${describeGrowth(warm.openFiles, end.openFiles)}`,
    );
  return faults;
}

/** Spends the remaining quota of some small keys, which must succeed when nothing is held. */
async function spendRemainingQuota(
  clients: SoakClients,
  deployment: Deployment,
  recorder: Recorder,
): Promise<void> {
  const balances = await readBalances(deployment.options);
  for (const key of clients.usedKeys.filter(({ revoked }) => revoked !== true).slice(-5)) {
    const remain = balances.get(key.id) ?? 0;
    const affordable = Math.min(500, Math.floor(remain / price));
    if (affordable === 0) continue;
    const status = await clients.send(speechOf('a'.repeat(affordable)), key);
    if (status !== 200)
      recorder.faults.push(
        `key ${key.id} has ${remain} remaining, but could not spend ${affordable * price} (${status})`,
      );
  }
}
