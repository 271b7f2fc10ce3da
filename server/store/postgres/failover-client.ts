import pg from 'pg';
import { serverUrls } from '../../settings/database.ts';

/** The servers of a database, of which one is in use. */
export class DatabaseServers {
  readonly #urls: readonly [string, ...string[]];
  #index = 0;

  /** `databaseUrl`: address with one or more hosts. @throws SettingsError naming `variable` when it is malformed */
  constructor(databaseUrl: string, variable = 'DATABASE_URL') {
    this.#urls = serverUrls(variable, databaseUrl);
  }

  get count(): number {
    return this.#urls.length;
  }

  /** Address of the server in use. */
  get current(): string {
    return this.#urls[this.#index] ?? this.#urls[0];
  }

  /** Selects the next server after a failed connection, unless another connection has already done so. */
  reportFailure(url: string): void {
    if (url === this.current) this.#index = (this.#index + 1) % this.count;
  }
}

/** Returns a class whose clients connect to the server in use, and only if it accepts writes. */
export function failoverClient(servers: DatabaseServers): new (config?: pg.ClientConfig) => pg.Client {
  return class FailoverClient extends pg.Client {
    readonly #url: string;

    constructor(config?: pg.ClientConfig) {
      const url = servers.current;
      super({ ...config, connectionString: url });
      this.#url = url;
      // The pool handles errors only after the connection is checked.
      this.on('error', () => {});
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
      const connected = this.#connect();
      if (callback === undefined) return connected;
      const done = callback as (error?: Error) => void;
      connected.then(() => done(), done);
    }

    async #connect(): Promise<pg.Client> {
      try {
        await super.connect();
        // With one server, the first write reports the reason.
        if (servers.count > 1) await this.#requireWritable();
        return this;
      } catch (error) {
        servers.reportFailure(this.#url);
        // Not awaited, since a silently broken connection does not end.
        void this.end().catch(() => {});
        throw error;
      }
    }

    async #requireWritable(): Promise<void> {
      const { rows } = await this.query<{ transaction_read_only: string }>('show transaction_read_only');
      if (rows[0]?.transaction_read_only !== 'off')
        throw new Error(`the server ${this.host}:${this.port} is read-only`);
    }
  };
}

/** Takes a connection of a pool. After a failure it tries each of the other servers once. */
export async function connectToAny(pool: pg.Pool, servers: DatabaseServers): Promise<pg.PoolClient> {
  const errors: unknown[] = [];
  for (;;) {
    const tried = servers.current;
    try {
      return await pool.connect();
    } catch (error) {
      errors.push(error);
      // The server in use does not change if no connection of the pool becomes free in time.
      if (errors.length < servers.count && servers.current !== tried) continue;
      throw errors.length === 1 ? error : new AggregateError(errors, 'no server of the database answers');
    }
  }
}
