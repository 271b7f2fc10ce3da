import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openStore } from '../../server/store/open-store.ts';
import type { Store, StoreOptions } from '../../server/store/store.ts';

export type Engine = Store['engine'];

export const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/test';

/** The engines to test. CI must have PostgreSQL; elsewhere it is left out, loudly, when it does not answer. */
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

/** A data folder or a PostgreSQL schema of the test's own. Whatever was opened in it is closed by `remove`. */
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

  async remove(): Promise<void> {
    await Promise.all(this.#opened.map((store) => store.close()));
    await rm(this.options.dataDir, { recursive: true });
    const { schema } = this.options;
    if (schema !== undefined)
      await onServer((client) => client.query(`drop schema if exists ${schema} cascade`));
  }
}

/** Runs something on a PostgreSQL connection beside the store's own. */
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
