import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { openStore } from '../../server/store/open-store.ts';
import type { Store, StoreOptions } from '../../server/store/store.ts';

export type Engine = Store['engine'];

export const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/test';

/** The engines to test. CI requires PostgreSQL. Elsewhere it is omitted with a warning if it does not respond. */
export const engines: readonly Engine[] = await (async () => {
  if (process.env.CI === 'true' || (await answers())) return ['sqlite', 'postgres'] as const;
  console.warn(`PostgreSQL does not answer at ${databaseUrl}: its half of the store's tests is left out`);
  return ['sqlite'] as const;
})();

async function answers(): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2_000 });
  return client.connect().then(
    () => client.end().then(() => true),
    () => false,
  );
}

/** A data folder or a PostgreSQL schema for one test. `remove` closes every store opened in it. */
export class TestStore {
  readonly options: StoreOptions;
  readonly engine: Engine;
  readonly #opened: Store[] = [];

  private constructor(engine: Engine, options: StoreOptions) {
    this.engine = engine;
    this.options = options;
  }

  static async make(engine: Engine): Promise<TestStore> {
    const dataDir = await mkdtemp(join(tmpdir(), 'unigate-store-'));
    const schema = `test_${randomUUID().replaceAll('-', '')}`;
    return new TestStore(engine, engine === 'sqlite' ? { dataDir } : { dataDir, databaseUrl, schema });
  }

  async open(more: Partial<StoreOptions> = {}): Promise<Store> {
    const store = await openStore({ ...this.options, ...more });
    this.#opened.push(store);
    return store;
  }

  /** Restores the initial contents, also while stores are open. No command may be running. */
  async empty(): Promise<void> {
    const { schema, dataDir } = this.options;
    if (schema !== undefined) {
      await onServer((client) => client.query(emptySchema(schema)));
      return;
    }
    const file = new DatabaseSync(join(dataDir, 'unigate.db'), {
      timeout: 5_000,
      enableForeignKeyConstraints: false,
    });
    try {
      const tables = file.prepare("select name from sqlite_schema where type = 'table'").all();
      const kept = ['schema_migrations', 'log_figures_mark', 'sqlite_sequence'];
      const names = tables.map(({ name }) => String(name)).filter((name) => !kept.includes(name));
      const deletes = names.map((name) => `delete from "${name}";`).join(' ');
      file.exec(`begin immediate; ${deletes} delete from sqlite_sequence; ${sqliteSeeds} commit`);
    } finally {
      file.close();
    }
  }

  async remove(): Promise<void> {
    await Promise.all(this.#opened.map((store) => store.close()));
    await rm(this.options.dataDir, { recursive: true });
    const { schema } = this.options;
    if (schema !== undefined)
      await onServer((client) => client.query(`drop schema if exists ${schema} cascade`));
  }
}

/** Rows that the migrations insert. The first user id is reserved for the bootstrap key. */
const seeds = 'update log_figures_mark set rolled_to = 0;';
const sqliteSeeds = `${seeds} insert into sqlite_sequence (name, seq) values ('users', 1);`;

/** Deleting the rows takes milliseconds. Truncating creates a new file per table, which takes half a second. */
const emptySchema = (schema: string) => `
  set search_path = ${schema};
  do $$ declare one regclass; begin
    for one in select inhrelid from pg_inherits where inhparent = 'request_log'::regclass
      and inhrelid::regclass::text ~ '^request_log_\\d+$' loop execute 'drop table ' || one; end loop;
    for one in select oid from pg_class where relnamespace = '${schema}'::regnamespace and relkind in ('r', 'p')
      and not relispartition and relname not in ('schema_migrations', 'log_figures_mark', 'users', 'tasks')
      loop execute 'delete from ' || one; end loop;
    delete from tasks;
    delete from users;
    ${seeds}
    for one in select oid from pg_class where relnamespace = '${schema}'::regnamespace and relkind = 'S'
      loop execute 'alter sequence ' || one || ' restart'; end loop;
    perform setval('users_id_seq', 1);
  end $$`;

/** Runs a function on a PostgreSQL connection separate from the store's. */
export async function onServer<T>(
  use: (client: pg.Client) => Promise<T>,
  connectionString = databaseUrl,
): Promise<T> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
