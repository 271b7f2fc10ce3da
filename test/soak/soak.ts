import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { Audit } from '../../server/store/queries/audit.ts';
import { makeSite, type Site } from '../faults/site.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { price, speechOf } from './asks.ts';
import { balances, bookFaults, untilAtRest } from './books.ts';
import { Callbacks } from './callbacks.ts';
import { Customers, type CustomersParts, plenty } from './customers.ts';
import { Disturbances } from './disturbances.ts';
import { Evidence, patienceMs, type SoakKey } from './evidence.ts';
import { type Footprint, Node } from './node.ts';
import { countOf, growthOf } from './open-files.ts';

export interface SoakOptions {
  seconds: number;
  seed: number;
  /** Address of the PostgreSQL database to make a schema in; undefined: SQLite. */
  database: string | undefined;
  /** Gateways that share the database; one on SQLite. */
  nodes: number;
  /** Processes of each gateway; one on SQLite. */
  workers: number;
  /** Customers at once. */
  customers: number;
  /** Requests a second, of all customers together; undefined: as fast as they are answered. */
  rate: number | undefined;
  /** Is told what happens now, and what is wrong as soon as it is seen. */
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
  slowest: Evidence['slowest'];
  books: Omit<Audit, 'problems' | 'more'>;
  /** Of each gateway: at rest after warm-up, and at the end. */
  footprints: { warm: Footprint; end: Footprint }[];
  /** What of them is judged: after a short time, connections and memory are not what they come to. */
  judged: { openFiles: boolean; memory: boolean };
  faults: string[];
}

/** Of the time, first gateways are killed, then they become warm, then they are to take no more. */
const shares = { kills: 0.4, warm: 0.3, steady: 0.3 };
/** Quota of a key that has little: some calls' worth. */
const little = 3_000;
/** Resident memory and open files may grow by one part in so many; and by so many files, whatever their number. */
const growth = 0.1;
const fewFiles = 4;
/** So long a gateway has to become warm before each is judged, in seconds. */
const warmSeconds = { openFiles: 15, memory: 180 };
/** Connections for the next call to the same host are kept for as long as it offers, here a minute, and gone after so many ms. */
const idleMs = 75_000;

/** Has customers do all that they can to gateways of their own, and says what was wrong. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { seconds, seed, database } = options;
  const engine = database === undefined ? 'sqlite' : 'postgres';
  const evidence = new Evidence(options.onPhase);
  const site = await makeSite(engine, database);
  const crashed = (what: string) => evidence.faults.push(what);
  const nodes = Array.from(
    { length: options.nodes },
    (_, index) =>
      new Node({
        options: site.options,
        core: index === 0 ? 'measured' : 'others',
        workers: options.workers,
        onCrash: crashed,
      }),
  );
  const callbacks = await Callbacks.start();
  try {
    await allowCallbacks(site.options.config);
    const keys = await makeKeys(site, seconds);
    const random = seededRandom(seed);
    const customers = new Customers({ nodes, evidence, random, ...keys, callbacks, rate: options.rate });
    const { config } = site.options;
    const several = options.workers > 1;
    const disturbances = new Disturbances({ nodes, customers, evidence, random, config, database, several });
    for (const node of nodes) await node.start();
    const warm = seconds * shares.warm;
    const judged = { openFiles: warm >= warmSeconds.openFiles, memory: warm >= warmSeconds.memory };
    const footprints = await load({ customers, disturbances, nodes }, options, judged.openFiles ? idleMs : 0);
    options.onPhase('waiting for what is under way');
    await customers.finishTasks(patienceMs);
    for (const path of evidence.openTasks.keys()) evidence.faults.push(`${path}: the task never ended`);
    evidence.faults.push(...(await callbacks.faults(evidence.hooks, patienceMs)));
    await untilAtRest(site.options, patienceMs);
    await spendTheLast(customers, site, evidence);
    await untilAtRest(site.options, patienceMs);
    for (const node of nodes) await node.stop();
    const { problems, more: _, ...books } = await untilAtRest(site.options, 0);
    evidence.faults.push(...problems.map(({ subject, problem }) => `${subject}: ${problem}`));
    if (books.open + books.held + books.leased > 0)
      evidence.faults.push(`at rest, ${books.open} are open, ${books.held} held, ${books.leased} leased`);
    evidence.faults.push(...(await bookFaults(site.options, evidence)));
    evidence.faults.push(...footprints.flatMap((one) => footprintFaults(one, judged)));
    const outcomes = Object.fromEntries(
      [...evidence.outcomes].toSorted(([left], [right]) => left.localeCompare(right)),
    );
    return {
      engine,
      seed,
      seconds,
      calls: Object.values(outcomes).reduce((sum, count) => sum + count, 0),
      tasks: evidence.tasks,
      kills: nodes.reduce((sum, { kills }) => sum + kills, 0),
      outcomes,
      slowest: evidence.slowest,
      books,
      footprints,
      judged,
      faults: evidence.faults,
    };
  } finally {
    await Promise.allSettled([...nodes.map((node) => node.stop()), callbacks.close()]);
    await site.remove();
  }
}

type SoakKeys = Pick<CustomersParts, 'rich' | 'poor' | 'observer'>;

/** Makes keys that never run out, many that soon do, and one without limits. */
async function makeKeys({ options, token }: Site, seconds: number): Promise<SoakKeys> {
  const store = await openStore(options);
  const make = async (name: string, granted: number, unlimitedQuota = false): Promise<SoakKey> => {
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
  // One after the other: thousands at once would wait in vain for a connection to the database.
  const many = async (count: number, name: string, granted: number) => {
    const keys: SoakKey[] = [];
    while (keys.length < count) keys.push(await make(name, granted));
    return keys;
  };
  try {
    return {
      rich: await many(3, 'rich', plenty * 1_000),
      poor: await many(Math.min(2_000, 10 + Math.ceil(seconds)), 'poor', little),
      observer: await make('observer', 0, true),
    };
  } finally {
    await store.close();
  }
}

/** Callbacks to this machine. */
async function allowCallbacks(config: string): Promise<void> {
  const settings = JSON.parse(await readFile(config, 'utf8')) as object;
  await writeFile(config, JSON.stringify({ ...settings, callbacks: { allow_private: true } }));
}

interface Company {
  customers: Customers;
  disturbances: Disturbances;
  nodes: readonly Node[];
}

async function load(
  company: Company,
  { seconds, customers: count, onPhase }: SoakOptions,
  restMs: number,
): Promise<SoakReport['footprints']> {
  const { customers, disturbances } = company;
  const work = async (phase: string, share: number, kills: boolean) => {
    onPhase(phase);
    const ms = seconds * 1_000 * share;
    await Promise.all([customers.work(count, ms), disturbances.go(ms, kills)]);
  };
  await work('load, with kills', shares.kills, true);
  await work('load, to become warm', shares.warm, false);
  const warm = await footprintsOf(company, restMs);
  await work('load, to be compared', shares.steady, false);
  const end = await footprintsOf(company, restMs);
  return warm.flatMap((one, index) => {
    const later = end[index];
    return later === undefined ? [] : [{ warm: one, end: later }];
  });
}

/** Of each gateway, once its connections for the next call have run out, or should have. */
async function footprintsOf({ customers, nodes }: Company, restMs: number): Promise<Footprint[]> {
  await customers.finishTasks(patienceMs);
  return Promise.all(
    nodes.map(async (node) => {
      const until = performance.now() + restMs;
      for (;;) {
        const footprint = await node.footprint();
        if (footprint.outside === 0 || performance.now() > until) return footprint;
        await pause(1_000);
      }
    }),
  );
}

function footprintFaults(
  { warm, end }: SoakReport['footprints'][number],
  judged: SoakReport['judged'],
): string[] {
  const faults: string[] = [];
  if (judged.memory && end.residentMb > warm.residentMb * (1 + growth))
    faults.push(`resident memory grew from ${warm.residentMb.toFixed(1)} to ${end.residentMb.toFixed(1)} MB`);
  const [before, after] = [countOf(warm.openFiles), countOf(end.openFiles)];
  if (judged.openFiles && after > Math.max(before * (1 + growth), before + fewFiles))
    faults.push(`open files grew from ${before} to ${after}: ${growthOf(warm.openFiles, end.openFiles)}`);
  return faults;
}

/** Some of the keys that were spent from: what they have left can be spent to the last unit, since nothing holds it. */
async function spendTheLast(customers: Customers, site: Site, evidence: Evidence): Promise<void> {
  const left = await balances(site.options);
  for (const key of customers.spent.filter(({ revoked }) => revoked !== true).slice(-5)) {
    const remain = left.get(key.id) ?? 0;
    const affordable = Math.min(500, Math.floor(remain / price));
    if (affordable === 0) continue;
    const status = await customers.ask(speechOf('a'.repeat(affordable)), key);
    if (status !== 200)
      evidence.faults.push(
        `key ${key.id} has ${remain} left, and could not spend ${affordable * price} (${status})`,
      );
  }
}
