import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { Channels } from '../../server/channels/channels.ts';
import { systemTimers } from '../../server/lib/timers.ts';
import { hashKey } from '../../server/store/keys.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { Store } from '../../server/store/store.ts';
import type { TaskDriver } from '../../server/tasks/driver.ts';
import type { TaskCreation } from '../../server/tasks/task-creation.ts';
import { Tasks } from '../../server/tasks/tasks.ts';
import { channelTo } from '../support/upstream.ts';
import { benchNodes, describeDelays } from './poller-nodes.ts';
import { cores } from './processes.ts';

// Measures the delay of polls with many tasks in progress: npm run bench:tasks -- [--tasks 10000] [--rate 200] [--seconds 60]
// [--channels 4]. With DATABASE_URL, it runs on PostgreSQL in a temporary schema. There, --nodes 3 starts several gateways and
// --kill kills one.

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '10000' },
    /** New tasks per second until all are created. */
    rate: { type: 'string', default: '200' },
    /** Duration of the measurement after all are created. */
    seconds: { type: 'string', default: '60' },
    channels: { type: 'string', default: '4' },
    nodes: { type: 'string', default: '1' },
    kill: { type: 'boolean', default: false },
  },
});
const count = Number(values.tasks);
const rate = Number(values.rate);
const seconds = Number(values.seconds);
const channelNames = Array.from({ length: Number(values.channels) }, (_, index) => `channel-${index}`);

/** Minimum and maximum latency of an upstream response. */
const latencyMs = [30, 70] as const;
/** Minimum and maximum duration of a task. */
const taskDurationMs = [60_000, 300_000] as const;

const randomBetween = ([from, to]: readonly [number, number]) => from + Math.random() * (to - from);

const nodes = Number(values.nodes);
if (nodes > 1) {
  const url = process.env.DATABASE_URL;
  if (url === undefined) throw new Error('--nodes requires DATABASE_URL');
  await benchNodes(url, { nodes, tasks: count, seconds, channels: channelNames, kill: values.kill });
  process.exit();
}

if (cores !== undefined && process.env.BENCH_PINNED === undefined) {
  const command = [process.execPath, '--expose-gc', fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const env = { ...process.env, BENCH_PINNED: cores.measured };
  const { status } = spawnSync('taskset', ['-c', cores.measured, ...command], { stdio: 'inherit', env });
  process.exit(status ?? 1);
}

/** Due time of each task, as recorded by the task engine. */
const due = new Map<string, number>();
let delays: number[] = [];
/** Durations of store commands in milliseconds, by name. */
const commands = new Map<string, number[]>();
const endAt = new Map<string, number>();
let finished = 0;

const driver: TaskDriver = {
  async submit({ id }) {
    await delay(randomBetween(latencyMs));
    endAt.set(id, Date.now() + randomBetween(taskDurationMs));
    return { upstreamId: `up-${id}` };
  },
  async poll({ id }) {
    delays.push(systemTimers.monotonic() - (due.get(id) ?? 0));
    await delay(randomBetween(latencyMs));
    const remainingMs = (endAt.get(id) ?? 0) - Date.now();
    if (remainingMs <= 0) return { state: 'completed', result: { url: 'https://files.example/clip.mp4' } };
    return { state: 'in_progress', progress: Math.max(0, 90 - remainingMs / 3_000) };
  },
};

const dataDir = await mkdtemp(join(tmpdir(), 'unigate-poller-'));
const databaseUrl = process.env.DATABASE_URL;
const schema = `bench_${Date.now()}`;
const opened = await openStore({ dataDir, ...(databaseUrl === undefined ? {} : { databaseUrl, schema }) });
const store: Store = {
  ...opened,
  run(name, args) {
    const polls = args as unknown as { id: string; nextPollAt: number }[];
    if (name === 'recordPolls') for (const { id, nextPollAt } of polls) due.set(id, nextPollAt);
    const { id, nextPollAt } = args as unknown as { id: string; nextPollAt: number };
    if (name === 'acceptTask') due.set(id, nextPollAt);
    const startedAt = Date.now();
    const result = opened.run(name, args);
    const done = () => {
      const durations = commands.get(name) ?? [];
      durations.push(Date.now() - startedAt);
      commands.set(name, durations);
    };
    result.then(done, done);
    return result;
  },
};
const user = await store.run('createUser', { name: 'bench', group: 'default', now: Date.now() });
const token = await store.run('createToken', {
  userId: user.id,
  name: 'bench',
  keyHash: hashKey(randomUUID()),
  keyHint: 'sk',
  remainQuota: 1_000_000_000,
  now: Date.now(),
});
const channels = new Channels(
  channelNames.map((name) => channelTo('http://127.0.0.1:9', { name })),
  Date.now,
);
let created = 0;
let isRunning = true;
const tasks = new Tasks({
  store,
  drivers: new Map([['bench', driver]]),
  channels: { names: channelNames, named: (name) => channels.named(name) },
  priceTerms: () => ({ unitPrice: 1, rule: null, groupRatio: 1, group: 'default', configRevision: 'abc' }),
  logger: pino({ level: 'error' }),
  onChange: ({ id, state }) => {
    if (state !== 'completed') return;
    finished += 1;
    due.delete(id);
    endAt.delete(id);
    // Replaces the finished task.
    if (isRunning) void submit();
  },
});

function submit() {
  const channel = channels.named(channelNames[created % channelNames.length] ?? '');
  created += 1;
  const creation: TaskCreation = {
    requestId: randomUUID(),
    caller: {
      tokenId: token.id,
      userId: user.id,
      tokenName: 'bench',
      isAdmin: false,
      group: 'default',
      modelLimits: null,
    },
    operation: 'createVideo',
    format: 'videos',
    driver: 'bench',
    model: { id: 'gamma3.0-video', unit: 'seconds' },
    channels: channel === undefined ? [] : [channel],
    request: { prompt: 'a kite over the sea' },
    facts: { prompt: 'a kite over the sea', seconds: '5', size: '720P' },
    expectedUnits: 5,
  };
  return tasks.submit(creation);
}

let cpuBefore = process.cpuUsage();
let timeBefore = Date.now();

function report(phase: string): void {
  const elapsed = Date.now() - timeBefore;
  const cpu = process.cpuUsage(cpuBefore);
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  console.log(
    [
      phase.padEnd(10),
      `${due.size} in flight`,
      `${Math.round((delays.length / elapsed) * 1_000)} polls/s`,
      ...describeDelays(delays),
      `cpu ${Math.round(((cpu.user + cpu.system) / 1_000 / elapsed) * 100)} %`,
      `heap ${Math.round(heapUsed / 2 ** 20)} MB rss ${Math.round(rss / 2 ** 20)} MB`,
      `${finished} done`,
      ...[...commands].map(([name, all]) => {
        const one = all.toSorted((remainingMs, right) => remainingMs - right);
        return `${name} ${all.length}x p50 ${one[Math.floor(all.length / 2)]} p99 ${one[Math.floor(all.length * 0.99)]} ms`;
      }),
    ].join(' | '),
  );
  commands.clear();
  delays = [];
  cpuBefore = process.cpuUsage();
  timeBefore = Date.now();
}

console.log(
  `${store.engine}, ${count} tasks, ${channelNames.length} channels, core ${process.env.BENCH_PINNED ?? 'any'}`,
);
await tasks.start();
const startedAt = Date.now();
const submitting: Promise<unknown>[] = [];
while (created < count) {
  const target = Math.min(count, Math.ceil(((Date.now() - startedAt) / 1_000) * rate));
  while (created < target) submitting.push(submit());
  await delay(10);
}
await Promise.all(submitting);
report('creating');
for (let slice = 1; slice <= Math.ceil(seconds / 10); slice += 1) {
  await delay(10_000);
  report(`${slice * 10} s`);
}
isRunning = false;
await tasks.stop();
await channels.close();
await store.close();
if (databaseUrl !== undefined) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`drop schema ${schema} cascade`);
  await client.end();
}
await rm(dataDir, { recursive: true });
