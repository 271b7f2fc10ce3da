import type { PostgresLimits } from '../settings/database.ts';
import { type OnAvailability, retryWhileUnavailable } from './availability.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { Args, CommandName, Result } from './commands/registry.ts';
import type { ReportArgs, ReportName, ReportResult } from './reports.ts';
import type { Db } from './schema.ts';

export interface Store {
  readonly engine: 'sqlite' | 'postgres';
  /** For queries only: on SQLite this connection cannot write. It sees every command that `run` has resolved. */
  readonly read: Db;
  /**
   * Runs a command in a transaction, and resolves after the commit. Rejects with the command's own error or with
   * `StoreUnavailable`, in which case nothing is written.
   */
  run<Name extends CommandName>(name: Name, args: Args<Name>): Promise<Result<Name>>;
  /** Runs a slow query without delaying those of `read`. @throws StoreUnavailable */
  report<Name extends ReportName>(name: Name, args: ReportArgs<Name>): Promise<ReportResult<Name>>;
  /** Checks within `probeLimitMs` that commands can run. @throws StoreUnavailable */
  check(): Promise<void>;
  /** Delivers the changes of other gateways. Undefined without a listener, or if there are no other gateways. */
  readonly changeFeed: ChangeFeed | undefined;
  /** Resolves with the reason if the store fails permanently, so that the process must exit. */
  readonly failed: Promise<Error>;
  /** Aborted when calls must stop waiting for an unavailable database. */
  readonly retrySignal: AbortSignal;
  /** Aborts `retrySignal`, as `close` does last. */
  stopRetries(): void;
  /** Rejects new commands, completes those in progress, and unlocks the data folder. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Folder of the SQLite database, created if it does not exist. Unused with `databaseUrl`. */
  dataDir: string;
  /** `postgres://…`: uses this PostgreSQL database instead of SQLite. */
  databaseUrl?: string;
  /** PostgreSQL schema, created if it does not exist. Default: the schema of the connection. */
  schema?: string;
  /** Connections and time limits of PostgreSQL. */
  postgres?: PostgresLimits;
  /** Listens for changes of other gateways on PostgreSQL. `databaseUrl`: the address for this connection, if it is another one. */
  changeFeed?: {
    databaseUrl: string | undefined;
    onConnection: (isConnected: boolean, reason?: Error) => void;
  };
  onAvailability?: OnAvailability;
}

/**
 * Runs a command that records an event of the past: while the database is unavailable, it is retried.
 *
 * @throws StoreUnavailable when `retrySignal` is aborted, else the command's own error
 */
export function persist<Name extends CommandName>(
  store: Pick<Store, 'run' | 'retrySignal'>,
  name: Name,
  args: Args<Name>,
): Promise<Result<Name>> {
  return retryWhileUnavailable(store.retrySignal, () => store.run(name, args));
}
