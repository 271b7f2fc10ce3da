import type { Kysely } from 'kysely';
import type { Args, CommandName, Result } from './commands/registry.ts';
import { openPostgresStore } from './postgres/engine.ts';
import type { Database } from './schema.ts';
import { openSqliteStore } from './sqlite/engine.ts';

export interface Store {
  readonly engine: 'sqlite' | 'postgres';
  /** For queries only: on SQLite this connection cannot write. It sees everything that `run` has resolved. */
  readonly read: Kysely<Database>;
  /** Runs a command in a transaction. Resolves after the commit; rejects with the command's own error. */
  run<Name extends CommandName>(name: Name, args: Args<Name>): Promise<Result<Name>>;
  /** Refuses new commands, finishes those given before, and frees the data folder. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Folder of the embedded database; made when it is not there. Unused with `databaseUrl`. */
  dataDir: string;
  /** `postgres://…`: use that database instead. */
  databaseUrl?: string;
  /** PostgreSQL schema to live in, made when it is not there. Default: the connection's own. */
  schema?: string;
}

/**
 * Opens the store and brings its schema up to date.
 *
 * @throws when the data folder is in use by another gateway, the database does not answer, or it was written
 *   by a newer version.
 */
export function openStore({ dataDir, databaseUrl, schema }: StoreOptions): Promise<Store> {
  return databaseUrl === undefined ? openSqliteStore(dataDir) : openPostgresStore(databaseUrl, schema);
}
