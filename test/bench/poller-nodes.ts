import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { systemTimers } from '../../server/lib/timers.ts';
import { openStore } from '../../server/store/open-store.ts';
import { defaultTiming } from '../../server/tasks/timing.ts';
import { makeToken } from '../store/books.ts';
import type { NodeStart, NodeWord } from './poller-node.ts';
import { here } from './processes.ts';

/** Seconds before measuring. */
const settling = 20;

/**
 * How late polls are with tasks in flight on several gateways of one PostgreSQL database, each in a process of its own, and how
 * soon those of one that is killed go on. All tasks are at the longest interval, spread over it.
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
  let late: NodeWord['late'] = [];
  let cpuMs = 0;
  try {
    const token = await makeToken(store, { remainQuota: 1_000_000_000 });
    await fill(client, token, tasks, channels);
    for (let node = 0; node < nodes; node += 1) {
      const start: NodeStart = { id: `node ${node}`, store: options, channels };
      const child = spawn(process.execPath, [here('poller-node.ts'), JSON.stringify(start)], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      child.on('message', (word: NodeWord) => {
        for (const one of word.late) late.push(one);
        cpuMs += word.cpuMs;
      });
      children.set(start.id, child);
    }
    await pause(settling * 1_000);
    const report = (phase: string, without: ReadonlySet<string> = new Set()) => {
      const ms = late.flatMap(([id, one]) => (without.has(id) ? [] : one));
      console.log(
        [
          phase,
          `${ms.length} polls, ${Math.round(ms.length / seconds)}/s`,
          ...howLate(ms),
          `cpu of all nodes ${Math.round(cpuMs / seconds / 10)} %`,
        ].join(' | '),
      );
      late = [];
      cpuMs = 0;
    };
    late = [];
    cpuMs = 0;
    await pause(seconds * 1_000);
    report(`${nodes} nodes`);
    if (!kill) return;
    const [victim, child] = [...children][0] ?? [];
    child?.kill('SIGKILL');
    const killedAt = systemTimers.monotonic();
    const { rows } = await client.query<{ id: string }>('select id from tasks where lease_owner = $1', [
      victim,
    ]);
    const orphans = rows.map(({ id }) => id);
    const waiting = async () => {
      const text = 'select 1 from tasks where id = any($1) and polled_at <= $2 limit 1';
      return (await client.query(text, [orphans, killedAt])).rows.length > 0;
    };
    while (await waiting()) await pause(100);
    const movedAfter = systemTimers.monotonic() - killedAt;
    await pause(Math.max(0, seconds * 1_000 - movedAfter));
    console.log(
      `one killed with ${orphans.length} tasks in hand: the last of them was polled after ${movedAfter} ms`,
    );
    report('the others', new Set(orphans));
  } finally {
    for (const child of children.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await client.query(`drop schema ${schema} cascade`);
    await client.end();
    await store.close().catch(() => {});
  }
}

/** How late polls were, by their milliseconds, in words. */
export function howLate(late: readonly number[]): string[] {
  const sorted = late.toSorted((left, right) => left - right);
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  const inTime = sorted.filter((ms) => ms <= 1_000).length / Math.max(1, sorted.length);
  return [
    `late ms p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} max ${at(1)}`,
    `${(inTime * 100).toFixed(2)} % within 1 s`,
  ];
}

/** Tasks that providers are at work on, as if each had just been polled, evenly over the longest interval. */
async function fill(
  client: pg.Client,
  token: { id: number; userId: number },
  count: number,
  channels: readonly string[],
): Promise<void> {
  const begin = systemTimers.monotonic() + 5_000;
  await client.query(
    `insert into tasks (id, request_id, user_id, token_id, operation, format, driver, model, unit, channel,
      upstream_id, state, progress, facts, expected_units, rate, created_at, updated_at, asked_at, deadline_at,
      polled_at, next_poll_at, poll_interval, failures, attempt)
    select 'task_' || n, 'request_' || n, $1, $2, 'createVideo', 'videos', 'bench', 'gamma3.0-video', 'seconds',
      ($3::text[])[1 + n % $4], 'up-' || n, 'in_progress', 1, '{"prompt":"a kite over the sea"}', 5, 1, $5, $5, $5,
      $5 + 86400000::bigint, $5 - $6 + n * $6 / $7, $5 + n * $6 / $7, $6, 0, 1
    from generate_series(0, $7::bigint - 1) as n`,
    [token.userId, token.id, channels, channels.length, begin, defaultTiming.maxPollMs, count],
  );
  await client.query('analyze tasks');
}
