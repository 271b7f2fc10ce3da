import { randomUUID } from 'node:crypto';
import { databaseUrl, type Engine, onServer } from '../store/engines.ts';

export interface TestDatabase {
  /** Undefined: the embedded database. */
  url: string | undefined;
  remove(): Promise<void>;
}

/** Creates a database for one gateway. On PostgreSQL, it is a schema that the URL names. */
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
