import { randomUUID } from 'node:crypto';
import { databaseUrl, type Engine, onServer } from '../store/engines.ts';

export interface TestDatabase {
  /** Undefined: the embedded one. */
  url: string | undefined;
  remove(): Promise<void>;
}

/** A database of the test's own for a whole gateway; on PostgreSQL a schema, named in the address. */
export async function makeDatabase(engine: Engine): Promise<TestDatabase> {
  if (engine === 'sqlite') return { url: undefined, remove: async () => {} };
  const schema = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer((client) => client.query(`create schema ${schema}`));
  const url = new URL(databaseUrl);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return {
    url: url.href,
    remove: async () => {
      await onServer((client) => client.query(`drop schema ${schema} cascade`));
    },
  };
}
