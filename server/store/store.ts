import type { Kysely } from 'kysely';
import type { PostgresLimits } from '../settings/database.ts';
import { type OnAvailability, retryWhileUnavailable } from './availability.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { Args, CommandName, Result } from './commands/registry.ts';
import type { ReportArgs, ReportName, ReportResult } from './reports.ts';
import type { Database } from './schema.ts';

export interface Store {
  readonly engine: 'sqlite' | 'postgres';
  /** For queries only: on SQLite this connection cannot write. It sees everything that `run` has resolved. */
  readonly read: Kysely<Database>;
  /**
   * Runs a command in a transaction. Resolves after the commit; rejects with the command's own error, or with
   * `StoreUnavailable`. When it rejects, nothing is written.
   */
  run<Name extends CommandName>(name: Name, args: Args<Name>): Promise<Result<Name>>;
  /** Runs a query that may take longer, apart from those of `read`. @throws StoreUnavailable when that cannot be done. */
  report<Name extends ReportName>(name: Name, args: ReportArgs<Name>): Promise<ReportResult<Name>>;
  /** Finds out in a short time whether commands can be run now. @throws StoreUnavailable when not. */
  check(): Promise<void>;
  /** How changes by other gateways are heard of; undefined: nobody listens, or there are no others. */
  readonly changeFeed: ChangeFeed | undefined;
  /** Resolves with the reason if the store fails for good, so that the process has to end. */
  readonly failed: Promise<Error>;
  /** Aborted when nobody shall wait any more for a store that is away. */
  readonly over: AbortSignal;
  /** Lets nobody wait any more: `close` does it last. */
  giveUp(): void;
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
  /** How a PostgreSQL database is used. */
  postgres?: PostgresLimits;
  /** Has what other gateways announce heard, where they can be told; `databaseUrl`: over a connection there. */
  changeFeed?: {
    databaseUrl: string | undefined;
    onConnection: (isConnected: boolean, reason?: Error) => void;
  };
  /** Called when the database, or the space on the disk, is gone, and when it is back. */
  onAvailability?: OnAvailability;
}

/**
 * Runs a command that writes down what has happened already: it waits for a store that is away until it is back.
 *
 * @throws StoreUnavailable when nobody shall wait any more, else the command's own error.
 */
export function persist<Name extends CommandName>(
  store: Pick<Store, 'run' | 'over'>,
  name: Name,
  args: Args<Name>,
): Promise<Result<Name>> {
  return retryWhileUnavailable(store.over, () => store.run(name, args));
}
