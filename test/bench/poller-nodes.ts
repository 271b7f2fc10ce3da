import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { systemTimers } from '../../server/lib/timers.ts';
import { openStore } from '../../server/store/open-store.ts';
import { defaultTiming } from '../../server/tasks/timing.ts';
import { makeToken } from '../store/ledger.ts';
import type { NodeOptions, NodeReport } from './poller-node.ts';
import { here } from './processes.ts';

/** Seconds before the measurement. */
const warmUpSeconds = 20;

/**
 * Measures the delay of polls on several gateways that share a PostgreSQL database, each in a separate process, and how soon
 * the others take over the tasks of a killed one. All tasks are at the maximum interval, spread evenly over it.
 */
export async function benchNodes(
  databaseUrl: string,
  {
    nodes,
    tasks,
    seconds,
    channels,
    kill,
  }: Record<'nodes' | 'tasks' | 'seconds', number> & {
    channels: readonly string[];
    kill: boolean;
  },
): Promise<void> {
  const schema = `bench_${Date.now()}`;
  const options = { dataDir: '', databaseUrl, schema };
  const store = await openStore(options);
  const client = new pg.Client({ connectionString: databaseUrl, options: `-c search_path=${schema}` });
  await client.connect();
  const children = new Map<string, ChildProcess>();
  let delays: NodeReport['delays'] = [];
  let cpuMs = 0;
  try {
    const token = await makeToken(store, { remainQuota: 1_000_000_000 });
    await insertTasks(client, token, tasks, channels);
    for (let node = 0; node < nodes; node += 1) {
      const start: NodeOptions = { id: `node ${node}`, store: options, channels };
      const child = spawn(process.execPath, [here('poller-node.ts'), JSON.stringify(start)], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      child.on('message', (report: NodeReport) => {
        for (const one of report.delays) delays.push(one);
        cpuMs += report.cpuMs;
      });
      children.set(start.id, child);
    }
    await delay(warmUpSeconds * 1_000);
    const printReport = (phase: string, exclude: ReadonlySet<string> = new Set()) => {
      const ms = delays.flatMap(([id, one]) => (exclude.has(id) ? [] : one));
      console.log(
        [
          phase,
          `${ms.length} polls, ${Math.round(ms.length / seconds)}/s`,
          ...describeDelays(ms),
          `cpu of all nodes ${Math.round(cpuMs / seconds / 10)} %`,
        ].join(' | '),
      );
      delays = [];
      cpuMs = 0;
    };
    delays = [];
    cpuMs = 0;
    await delay(seconds * 1_000);
    printReport(`${nodes} nodes`);
    if (!kill) return;
    const [victim, child] = [...children][0] ?? [];
    child?.kill('SIGKILL');
    const killedAt = systemTimers.monotonic();
    const { rows } = await client.query<{ id: string }>('select id from tasks where lease_owner = $1', [
      victim,
    ]);
    const orphans = rows.map(({ id }) => id);
    const hasUnpolled = async () => {
      const text = 'select 1 from tasks where id = any($1) and polled_at <= $2 limit 1';
      return (await client.query(text, [orphans, killedAt])).rows.length > 0;
    };
    while (await hasUnpolled()) await delay(100);
    const recoveryMs = systemTimers.monotonic() - killedAt;
    await delay(Math.max(0, seconds * 1_000 - recoveryMs));
    console.log(
      `killed a node with ${orphans.length} leased tasks: the last of them was polled after ${recoveryMs} ms`,
    );
    printReport('the others', new Set(orphans));
  } finally {
    for (const child of children.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    await client.query(`drop schema ${schema} cascade`);
    await client.end();
    await store.close().catch(() => {});
  }
}

/** Describes the delays of polls in milliseconds. */
export function describeDelays(delays: readonly number[]): string[] {
  const sorted = delays.toSorted((left, right) => left - right);
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  const shareInTime = sorted.filter((ms) => ms <= 1_000).length / Math.max(1, sorted.length);
  return [
    `delay ms p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} max ${at(1)}`,
    `${(shareInTime * 100).toFixed(2)} % within 1 s`,
  ];
}

/** Inserts tasks in progress whose next polls are spread evenly over the maximum interval. */
async function insertTasks(
  client: pg.Client,
  token: { id: number; userId: number },
  count: number,
  channels: readonly string[],
): Promise<void> {
  const startsAt = systemTimers.monotonic() + 5_000;
  await client.query(
    `insert into tasks (id, request_id, user_id, token_id, operation, format, driver, model, unit, channel,
      upstream_id, state, progress, facts, expected_units, rate, created_at, updated_at, asked_at, deadline_at,
      polled_at, next_poll_at, poll_interval, failures, attempt)
    select 'task_' || n, 'request_' || n, $1, $2, 'createVideo', 'videos', 'bench', 'gamma3.0-video', 'seconds',
      ($3::text[])[1 + n % $4], 'up-' || n, 'in_progress', 1, '{"prompt":"a kite over the sea"}', 5, 1, $5, $5, $5,
      $5 + 86400000::bigint, $5 - $6 + n * $6 / $7, $5 + n * $6 / $7, $6, 0, 1
    from generate_series(0, $7::bigint - 1) as n`,
    [token.userId, token.id, channels, channels.length, startsAt, defaultTiming.maxPollMs, count],
  );
  await client.query('analyze tasks');
}
