import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyStore } from '../../server/store/copy-store.ts';
import { copyToPostgres } from '../../server/store/postgres/copy-sqlite.ts';
import { numbersAsNumbers } from '../../server/store/postgres/types.ts';
import { auditLedger } from '../../server/store/queries/audit.ts';
import { readSnapshot } from '../../server/store/read-snapshot.ts';
import { compiled } from '../support/child-node.ts';
import { freePort } from '../support/free-port.ts';
import { databaseUrl, engines, onServer, TestStore } from './engines.ts';
import { fillStore } from './full-store.ts';
import { makeToken } from './ledger.ts';
import { runStatement } from './raw-rows.ts';

const program = fileURLToPath(new URL('../../server/admin.ts', import.meta.url));
const never = new AbortController().signal;

type Rows = Record<string, unknown>[];

test('a target that is no address of PostgreSQL is refused, with the name of its option or variable', async () => {
  const refused: [target: string | undefined, databaseUrl: string | undefined, message: string][] = [
    [undefined, undefined, '--to or DATABASE_URL must be the postgres:// address of an empty database.'],
    ['mysql://db.example/unigate', undefined, '--to must begin with postgres://'],
    ['postgres://a b', 'postgres://db.example/unigate', '--to must have the form'],
    [undefined, 'postgres://a b', 'DATABASE_URL must have the form'],
  ];
  for (const [target, address, message] of refused)
    await expect(
      copyStore({ dataDir: '.data', databaseUrl: address, target, signal: never }),
    ).rejects.toThrow(message);
});

test('a target that does not respond is reported with its option', async () => {
  const source = await TestStore.make('sqlite');
  const store = await source.open();
  await store.close();
  const target = `postgres://nobody:secret@127.0.0.1:${await freePort()}/none`;
  const failed = copyStore({ dataDir: source.options.dataDir, target, signal: never });
  await expect(failed).rejects.toThrow(/^--to: the target database cannot be used: .*ECONNREFUSED/);
  await expect(failed).rejects.not.toThrow('secret');
  await source.remove();
});

describe.runIf(engines.includes('postgres'))('a copy of a SQLite database on PostgreSQL', () => {
  let source: TestStore;
  let target: TestStore;
  let schema: string;
  let url: string;
  beforeEach(async () => {
    source = await TestStore.make('sqlite');
    target = await TestStore.make('postgres');
    schema = String(target.options.schema);
    const address = new URL(databaseUrl);
    address.searchParams.set('options', `-csearch_path=${schema}`);
    url = address.href;
    const store = await source.open();
    await fillStore(source, store);
    await store.close();
  });
  afterEach(async () => {
    await source.remove();
    await target.remove();
  });

  const copy = (signal = never) =>
    copyToPostgres({ dataDir: source.options.dataDir, databaseUrl, schema, signal });

  function sourceRows(table: string): Rows {
    const file = new DatabaseSync(join(source.options.dataDir, 'unigate.db'), { readOnly: true });
    const rows = file.prepare(`select * from "${table}"`).all();
    file.close();
    return rows.map((row) => ({ ...row }));
  }

  const targetRows = (table: string): Promise<Rows> =>
    onServer(async (client) => {
      const query = { text: `select * from ${schema}.${table}`, types: numbersAsNumbers };
      return (await client.query<Record<string, unknown>>(query)).rows;
    });

  /** Sorts rows, and their columns, and removes the day, which only PostgreSQL has. */
  const sorted = (rows: Rows) =>
    rows
      .map(({ day: _, ...row }) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))))
      .sort();

  /** Names the tables of the target that have rows. */
  async function filled(): Promise<string[]> {
    const names = await onServer(async (client) => {
      const query = 'select table_name as name from information_schema.tables where table_schema = $1';
      return (await client.query<{ name: string }>(query, [schema])).rows.map(({ name }) => name);
    });
    const counts = await Promise.all(
      names.map(async (name) => [name, (await targetRows(name)).length] as const),
    );
    return counts.flatMap(([name, count]) => (count > 0 ? [name] : [])).sort();
  }
  const unfilled = ['log_figures_mark', 'schema_migrations'];

  test('has every row, and a gateway continues on it', async () => {
    const before = await readSnapshot(source.options, auditLedger);
    const { rows, audit } = await copy();
    expect(audit).toEqual(before);
    expect(audit.problems).toEqual([]);
    // A table that no row is copied of would not be tested.
    expect(Object.entries(rows).filter(([, count]) => count === 0)).toEqual([]);
    for (const table of [...Object.keys(rows), 'log_counts'])
      expect([table, sorted(await targetRows(table))]).toEqual([table, sorted(sourceRows(table))]);
    expect(await targetRows('gateways')).toEqual([]);
    expect(await targetRows('request_log_other')).toEqual([]);

    const store = await target.open();
    const { id } = await makeToken(store);
    expect(id).toBe(Math.max(...sourceRows('tokens').map((row) => Number(row.id))) + 1);
    await store.run('recordHeartbeat', { id: 'here', heartbeat: 0 });
    const released = await store.run('releaseOrphans', { now: 1, dueNow: 1 });
    expect(released).toEqual({ reservations: 3, tasks: 1, deliveries: 1, leases: 1 });
    expect(await readSnapshot(target.options, auditLedger)).toMatchObject({ leased: 0, problems: [] });
    expect((await readSnapshot(source.options, auditLedger)).leased).toBeGreaterThan(0);
  });

  test('needs a stopped gateway and an empty target', async () => {
    const store = await source.open();
    await expect(copy()).rejects.toThrow('in use by another gateway');
    await store.close();
    await copy();
    await expect(copy()).rejects.toThrow('The target must be an empty database, but its table');
  });

  test('is undone when it differs, and can be repeated', async () => {
    const rule = `create rule lost as on insert to ${schema}.voices do instead nothing`;
    await (await target.open()).close();
    await onServer((client) => client.query(rule));
    await expect(copy()).rejects.toThrow('table voices has 0 rows, which should be 1');
    expect(await filled()).toEqual(unfilled);
    await onServer((client) => client.query(`drop rule lost on ${schema}.voices`));
    await expect(copy(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    expect(await filled()).toEqual(unfilled);
    expect((await copy()).audit.problems).toEqual([]);
  });

  test('keeps the problems of a ledger that does not balance', async () => {
    await runStatement(source, 'update tokens set remain_quota = remain_quota + 1 where id = 1');
    const { audit } = await copy();
    expect(audit.problems).toEqual((await readSnapshot(source.options, auditLedger)).problems);
    expect(audit.problems).toHaveLength(1);
  });

  test('that is killed leaves the target empty, and the command can run again', async () => {
    const run = async (environment: Record<string, string>, ...parameters: string[]) => {
      const env = { PATH: process.env.PATH, ...compiled, DATA_DIR: source.options.dataDir, ...environment };
      const child = spawn(process.execPath, [program, 'migrate', ...parameters], { env });
      const [out, error, [code, signal]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close') as Promise<[number | null, string | null]>,
      ]);
      return { out, error, end: signal ?? code };
    };
    await onServer((client) => client.query(`create schema ${schema}`));
    expect(await run({ FAULT_POINT: 'database_copied' }, '--to', url)).toMatchObject({ end: 'SIGKILL' });
    await expect.poll(filled).toEqual(unfilled);
    const { out, error, end } = await run({ DATABASE_URL: url });
    expect({ error, end }).toEqual({ error: '', end: 0 });
    expect(out).toMatch(/^tables +31\nrows +\d+\nkeys +2\n/);
    const refused = await run({}, '--to', 'postgres://postgres@127.0.0.1:1/none');
    expect(refused).toMatchObject({ end: 1, error: expect.stringContaining('ECONNREFUSED') });
  });
});
