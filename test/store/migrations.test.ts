import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { migrate } from '../../server/store/migrate.ts';
import { migrations } from '../../server/store/migrations/all.ts';
import type { Migration } from '../../server/store/migrations/migration.ts';
import { openStore } from '../../server/store/open-store.ts';
import { auditLedger } from '../../server/store/queries/audit.ts';
import { readSnapshot } from '../../server/store/read-snapshot.ts';
import type { Database } from '../../server/store/schema.ts';
import { openWriter } from '../../server/store/sqlite/connection.ts';
import { nodeSqliteDialect } from '../../server/store/sqlite/dialect.ts';
import { databaseUrl, type Engine, engines, onServer, TestStore } from './engines.ts';
import { runStatement } from './raw-rows.ts';
import { listSchema } from './schema-listing.ts';

/**
 * The schemas of releases, as `<version>.<engine>.sql`: statements without schema names that create the database of that release, with its
 * rows of `schema_migrations`. Each release adds its own, so there is none before 0.1.0.
 */
const releases = new URL('./releases/', import.meta.url);
const dumps = await readdir(releases).catch(() => []);

const addColumn = (name: string, column: string): Migration => ({
  name,
  async run(db) {
    await sql.raw(`alter table users add column ${column} text`).execute(db);
  },
});

describe.each(engines)('migrations on %s', (engine) => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
  });
  afterEach(() => testStore.remove());

  const connect = () => connectTo(testStore);
  const run = async (list: readonly Migration[]) => {
    const db = await connect();
    const { schema } = testStore.options;
    try {
      await migrate(db, engine, { schema, migrations: list });
    } finally {
      await db.destroy();
    }
  };
  const applied = async () => {
    const db = await connect();
    const { rows } = await sql<{
      name: string;
    }>`select name from schema_migrations order by applied_at, name`.execute(db);
    await db.destroy();
    return rows.map(({ name }) => name);
  };
  const released = migrations.map(({ name }) => name);
  const second = addColumn('9001-second', 'added');
  /** Works after the second one only. */
  const third: Migration = {
    name: '9002-third',
    async run(db) {
      await sql`alter table users rename column added to renamed`.execute(db);
    },
  };

  test('run once each and in order, also on a database that has the earlier ones', async () => {
    await run(migrations);
    expect(await applied()).toEqual(released);
    await run([...migrations, second, third]);
    await run([...migrations, second, third]);
    expect(await applied()).toEqual([...released, second.name, third.name]);
    expect(await listSchema(testStore)).toContainEqual(expect.stringMatching(/^column users.renamed text/));
  });

  test('that fail leave the schema of those before, from which the next start continues', async () => {
    const failing: Migration = {
      name: '9002-third',
      async run(db, ...context) {
        await third.run(db, ...context);
        throw new Error('no');
      },
    };
    await expect(run([...migrations, second, failing])).rejects.toThrow('no');
    expect(await applied()).toEqual([...released, second.name]);
    expect(await listSchema(testStore)).toContainEqual(expect.stringMatching(/^column users.added text/));
    await run([...migrations, second, third]);
    expect(await applied()).toEqual([...released, second.name, third.name]);
  });

  test('of a newer version are refused by name, and the database remains free', async () => {
    await (await testStore.open()).close();
    await runStatement(
      testStore,
      "insert into schema_migrations (name, applied_at) values ('9999-later', 1)",
    );
    const before = await listSchema(testStore);
    for (const open of [
      () => openStore(testStore.options),
      () => readSnapshot(testStore.options, auditLedger),
    ])
      await expect(open()).rejects.toMatchObject({
        name: 'SettingsError',
        message: 'The database was written by a newer version: it has the migration 9999-later.',
      });
    expect(await listSchema(testStore)).toEqual(before);
  });

  test('of an unreleased version are refused, and the database is not changed', async () => {
    await run([addUsers('0001-accounts-and-ledger'), addColumn('0002-voices', 'voices')]);
    const before = await listSchema(testStore);
    for (const open of [
      () => openStore(testStore.options),
      () => readSnapshot(testStore.options, auditLedger),
    ])
      await expect(open()).rejects.toMatchObject({
        name: 'SettingsError',
        message: expect.stringMatching(/^The database was created by an unreleased version.*empty DATA_DIR/),
      });
    expect(await listSchema(testStore)).toEqual(before);
    expect(await applied()).toEqual(['0001-accounts-and-ledger', '0002-voices']);
  });

  for (const file of dumps.filter((name) => name.endsWith(`.${engine}.sql`)))
    test(`bring the database of release ${file.replace(`.${engine}.sql`, '')} to the current schema`, async () => {
      await load(testStore, await readFile(new URL(file, releases), 'utf8'));
      await (await testStore.open()).close();
      const current = await TestStore.make(engine);
      await (await current.open()).close();
      expect(await listSchema(testStore)).toEqual(await listSchema(current));
      await current.remove();
      expect((await readSnapshot(testStore.options, auditLedger)).problems).toEqual([]);
    });

  if (engine === 'sqlite') return;

  test('wait for a table in use, and let others use it in the meantime', { timeout: 60_000 }, async () => {
    await run(migrations);
    await onSchema(testStore, async (reader) => {
      await reader.query('begin; select count(*) from users');
      const migrated = run([...migrations, second]);
      await onSchema(testStore, async (other) => {
        await vi.waitFor(
          async () => {
            const { rows } = await other.query(`select 1 from pg_locks l join pg_class c on c.oid = l.relation
                where not l.granted and c.relnamespace = current_schema()::regnamespace`);
            expect(rows).not.toEqual([]);
          },
          { timeout: 30_000, interval: 20 },
        );
        await other.query("insert into users (name, group_name, created_at) values ('u', 'default', 1)");
      });
      expect(await applied()).toEqual(released);
      await reader.query('commit');
      await migrated;
    });
    expect(await applied()).toEqual([...released, second.name]);
  });
});

const addUsers = (name: string): Migration => ({
  name,
  async run(db) {
    await sql`create table users (id integer primary key)`.execute(db);
  },
});

async function connectTo({ engine, options }: TestStore): Promise<Kysely<Database>> {
  if (engine === 'sqlite') {
    await mkdir(options.dataDir, { recursive: true });
    const dialect = nodeSqliteDialect(openWriter(join(options.dataDir, 'unigate.db')));
    return new Kysely<Database>({ dialect });
  }
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    options: `-c search_path=${options.schema}`,
    max: 1,
  });
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
}

const onSchema = <T>({ options }: TestStore, use: (client: pg.Client) => Promise<T>) =>
  onServer(async (client) => {
    await client.query(`set search_path = ${options.schema}`);
    return use(client);
  });

async function load(testStore: TestStore, dump: string): Promise<void> {
  const { engine, options }: { engine: Engine; options: TestStore['options'] } = testStore;
  if (engine === 'sqlite') {
    const file = new DatabaseSync(join(options.dataDir, 'unigate.db'));
    file.exec(dump);
    file.close();
    return;
  }
  await onServer((client) => client.query(`create schema ${options.schema}`));
  await onSchema(testStore, (client) => client.query(dump));
}
