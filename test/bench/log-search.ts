import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { RolledUp } from '../../server/store/commands/figures.ts';
import { openStore } from '../../server/store/open-store.ts';
import { type FiguresQuery, readLogEnd } from '../../server/store/queries/figures.ts';
import type { ExportFormat } from '../../server/store/queries/log-export.ts';
import type { LogSearch } from '../../server/store/queries/log-search.ts';
import type { Store } from '../../server/store/store.ts';
import { table } from './report.ts';

/** Number of entries, and of those of one user. */
const rows = 1_000_000;
const ownRows = 900_000;
const keys = 40;
const models = 30;

const start = 1_700_000_000;
const spanSeconds = 90 * 86_400;
const end = start + spanSeconds;

/** Searches with their page offsets. The request id is that of an entry in the middle. */
const searches: readonly { title: string; search: Omit<LogSearch, 'userId'> }[] = [
  { title: 'everything, first page', search: { keyword: '', offset: 0, limit: 20 } },
  { title: 'everything, 1000 in the middle', search: { keyword: '', offset: ownRows / 2, limit: 1_000 } },
  { title: 'everything, last page', search: { keyword: '', offset: ownRows - 20, limit: 20 } },
  { title: 'one model', search: { keyword: 'MODEL-07', offset: 0, limit: 20 } },
  {
    title: 'one model, 1000 in the middle',
    search: { keyword: 'model-07', offset: ownRows / models / 2, limit: 1_000 },
  },
  { title: 'one key', search: { keyword: 'key 3 ', offset: 0, limit: 20 } },
  { title: 'half of the keys', search: { keyword: 'even', offset: ownRows / 4, limit: 1_000 } },
  { title: 'a rare key', search: { keyword: 'rare', offset: 0, limit: 1_000 } },
  { title: 'a request id', search: { keyword: requestId(500_000), offset: 0, limit: 20 } },
  { title: 'nothing', search: { keyword: 'no such thing', offset: 0, limit: 20 } },
  { title: 'a task id', search: { keyword: `task_${'0a'.repeat(16)}`, offset: 0, limit: 20 } },
  {
    title: 'a day',
    search: {
      keyword: '',
      start: start + spanSeconds / 2,
      end: start + spanSeconds / 2 + 86_400,
      offset: 0,
      limit: 20,
    },
  },
  {
    title: 'the second half',
    search: { keyword: '', start: start + spanSeconds / 2, offset: ownRows / 4, limit: 1_000 },
  },
  {
    title: 'one model, 30 days',
    search: { keyword: 'model-07', start, end: start + spanSeconds / 3, offset: 0, limit: 20 },
  },
];

/** Aggregations for a dashboard, in the time range of the log. */
const figures: readonly { title: string; query: FiguresQuery }[] = [
  { title: 'figures of a day by hour', query: { by: ['hour'], since: end - 86_400, until: end } },
  { title: 'figures of 90 days by day', query: { by: ['day'], since: start, until: end } },
  { title: 'figures of 90 days by hour', query: { by: ['hour'], since: start, until: end } },
  { title: 'figures of 90 days by model', query: { by: ['model', 'channel'], since: start, until: end } },
];

interface LogSearchResult {
  engine: Store['engine'];
  title: string;
  /** Number of entries or groups found. */
  total: number;
  p50Ms: number;
  p95Ms: number;
  /** Longest block of the event loop of the calling thread. */
  stallMs: number;
}

export interface LogResults {
  searches: LogSearchResult[];
  exports: LogExportResult[];
}

/** Searches, aggregates and exports a log of a million entries on SQLite, and on PostgreSQL if `DATABASE_URL` is set. */
export async function measureLogSearch({ rounds }: { rounds: number }): Promise<LogResults> {
  const measureAll = async (store: Store): Promise<LogResults> => ({
    searches: await measure(store, rounds),
    exports: await measureExport(store),
  });
  const sqlite = await withSqlite(measureAll);
  const databaseUrl = process.env.DATABASE_URL;
  if (databaseUrl === undefined) return sqlite;
  const postgres = await withPostgres(databaseUrl, measureAll);
  return {
    searches: [...sqlite.searches, ...postgres.searches],
    exports: [...sqlite.exports, ...postgres.exports],
  };
}

export function logSearchMarkdown({ searches: results, exports }: LogResults): string {
  const exported = table(
    ['log export', 'engine', 'entries/s', 'stall ms'],
    exports.map(({ engine, format, rowsPerSecond, stallMs }) => [
      format,
      engine,
      String(Math.round(rowsPerSecond)),
      stallMs.toFixed(1),
    ]),
  );
  const searched = table(
    [`log search, ${rows} entries`, 'engine', 'found', 'p50 ms', 'p95 ms', 'stall ms'],
    results.map(({ title, engine, total, p50Ms, p95Ms, stallMs }) => [
      title,
      engine,
      String(total),
      p50Ms.toFixed(1),
      p95Ms.toFixed(1),
      stallMs.toFixed(1),
    ]),
  );
  return `${searched}\n\n${exported}`;
}

async function measure(store: Store, rounds: number): Promise<LogSearchResult[]> {
  const results: LogSearchResult[] = [];
  for (const { title, search } of searches)
    results.push(
      await measureOne(store, title, rounds, async () => {
        const { total } = await store.report('searchLog', { userId: 2, ...search });
        return total;
      }),
    );
  await rollUp(store);
  for (const { title, query } of figures)
    results.push(
      await measureOne(store, title, rounds, async () => {
        const { groups } = await store.report('showFigures', query);
        return groups.length;
      }),
    );
  return results;
}

/** Measures a query, which returns the number of results. */
async function measureOne(
  { engine }: Store,
  title: string,
  rounds: number,
  query: () => Promise<number>,
): Promise<LogSearchResult> {
  const times: number[] = [];
  let total = 0;
  let stallMs = 0;
  // The first rounds warm up caches and the compiler.
  for (let round = -3; round < rounds * 5; round += 1) {
    const watch = watchStalls();
    const startedAt = performance.now();
    total = await query();
    const duration = performance.now() - startedAt;
    const stall = watch();
    if (round < 0) continue;
    times.push(duration);
    stallMs = Math.max(stallMs, stall);
  }
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { engine, title, total, p50Ms: at(0.5), p95Ms: at(0.95), stallMs };
}

/** Aggregates the log except its latest entries, like a gateway between two runs of its periodic task. */
async function rollUp(store: Store): Promise<void> {
  const { id, below } = await readLogEnd(store.read);
  const end = { id: id - 5_000, below };
  for (let rolled: RolledUp = 1; rolled !== 0; ) rolled = await store.run('rollUpLog', { end, limit: 1_000 });
}

interface LogExportResult {
  engine: Store['engine'];
  format: ExportFormat;
  rowsPerSecond: number;
  /** Longest block of the event loop of the calling thread. */
  stallMs: number;
}

async function measureExport(store: Store): Promise<LogExportResult[]> {
  const results: LogExportResult[] = [];
  for (const format of ['csv', 'jsonl'] as const) {
    const watch = watchStalls();
    const startedAt = performance.now();
    const { after, upTo } = await store.report('exportRange', { after: 0 });
    for (let last = after; last < upTo; )
      ({ last } = await store.report('exportPage', { after: last, upTo, format, filter: {} }));
    const seconds = (performance.now() - startedAt) / 1_000;
    results.push({ engine: store.engine, format, rowsPerSecond: rows / seconds, stallMs: watch() });
  }
  return results;
}

/** Measures the longest block of the event loop. Returns a function that stops and returns it in milliseconds. */
function watchStalls(): () => number {
  let last = performance.now();
  let longest = 0;
  let running = true;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(tick);
  };
  setImmediate(tick);
  return () => {
    running = false;
    return longest;
  };
}

function requestId(number: number): string {
  return `req_019a${number.toString(16).padStart(28, '0')}`;
}

async function withSqlite<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'unigate-logs-'));
  const store = await openStore({ dataDir });
  const database = new DatabaseSync(join(dataDir, 'unigate.db'), { timeout: 60_000 });
  const series = `(with recursive s(i) as (select 1 union all select i + 1 from s where i < ${rows}) select i from s)`;
  for (const statement of ['drop trigger request_log_added', ...fillStatements(series, 'printf')])
    database.exec(statement);
  database.exec('analyze; pragma wal_checkpoint(truncate)');
  database.close();
  try {
    return await work(store);
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true });
  }
}

async function withPostgres<T>(databaseUrl: string, work: (store: Store) => Promise<T>): Promise<T> {
  const schema = `bench_${Date.now()}`;
  const store = await openStore({ dataDir: '', databaseUrl, schema });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`set search_path = ${schema}`);
    await client.query('alter table request_log disable trigger user');
    for (const statement of fillStatements(`(select generate_series(1, ${rows}) as i)`, 'format'))
      await client.query(statement);
    await client.query('vacuum analyze request_log');
    await client.query('vacuum analyze log_counts');
    return await work(store);
  } finally {
    await store.close();
    await client.query(`drop schema ${schema} cascade`);
    await client.end();
  }
}

/** Returns statements that fill the log. `series` has a row with the number `i` for each entry. */
function fillStatements(series: string, engine: 'printf' | 'format'): string[] {
  const hex = engine === 'printf' ? "printf('%028x', i)" : "lpad(to_hex(i), 28, '0')";
  const padded =
    engine === 'printf' ? "printf('%02d', (i * 7919) % 30)" : "lpad(((i * 7919::bigint) % 30)::text, 2, '0')";
  const key = `case when i % 5000 = 0 then ${keys + 1} else i * 31 % ${keys} + 1 end`;
  const tokenRows = Array.from({ length: keys + 2 }, (_, index) => {
    const name = index === keys ? 'a rare one' : `key ${index + 1} ${index % 2 === 0 ? 'odd' : 'even'}`;
    return `(${index + 1}, ${index > keys ? 3 : 2}, '${name}', 'hash ${index}', '', 1, 0, 0, 0, -1, 0)`;
  });
  const at = `${start} + cast(i as bigint) * ${spanSeconds} / ${rows + 1}`;
  const [day, ofEntry] = engine === 'format' ? [', day', `, (${at}) / 86400`] : ['', ''];
  return [
    "insert into users (id, name, group_name, created_at) values (2, 'own', 'default', 0), (3, 'other', 'default', 0)",
    `insert into tokens (id, user_id, name, key_hash, key_hint, status, unlimited_quota, remain_quota, used_quota,
      expired_time, created_time) values ${tokenRows.join(', ')}`,
    `insert into request_log (id, request_id, user_id, token_id, token_name, model_name, operation, channel, status,
      unit, units, prompt_tokens, completion_tokens, quota, debt, reserved, unlimited, duration_ms, created_at, state,
      unit_price, group_ratio, group_name, config_revision${day})
      select i, 'req_019a' || ${hex}, case when i % 10 = 0 and i % 5000 <> 0 then 3 else 2 end,
        case when i % 10 = 0 and i % 5000 <> 0 then ${keys + 2} else ${key} end,
        'the name of a key', 'model-' || ${padded}, 'createSpeech', 'channel', 200, 'tokens', 30, 10, 20, 60, 0, 60, 1, 900,
        ${at}, 'completed', 2, 1, 'default', 'revision'${ofEntry} from ${series} as entries`,
    `insert into log_counts (user_id, bucket, token_id, model_name, state, entries, first_at, last_at)
      select user_id, id >> 14, token_id, model_name, state, count(*), min(created_at), max(created_at) from request_log
      group by user_id, id >> 14, token_id, model_name, state`,
  ];
}
