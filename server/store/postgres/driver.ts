import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import { type Availability, StoreUnavailable } from '../availability.ts';
import type { QueryWithOptions } from '../statement.ts';
import { connectToAny, type DatabaseServers, failoverClient } from './failover-client.ts';
import { failureKind, isQueryTimeout, isReadOnly } from './failures.ts';
import { PreparedStatements } from './prepared.ts';
import { watchPool } from './watch-pool.ts';

/** The connection broke or was discarded. The server may have executed the last statement. */
export class ConnectionLost extends StoreUnavailable {
  constructor(reason: unknown) {
    super(reason, 'DATABASE_URL');
  }
}

/** A statement failed because of another transaction. The complete transaction can run again at once. */
export class Conflict extends StoreUnavailable {
  constructor(reason: unknown) {
    super(reason, 'DATABASE_URL');
  }
}

/** Repetitions of a read that a broken connection interrupted, each over another connection. */
const maxRepeats = 2;

/** A pool and what is known about its connections. Times are those of `performance.now`. */
export interface Connections {
  readonly pool: pg.Pool;
  readonly connectedAt: WeakMap<pg.PoolClient, number>;
  /** Clients that emitted an error. */
  readonly broken: WeakSet<pg.PoolClient>;
  readonly servers: DatabaseServers;
  /** When a query last failed because its connection broke. Older connections are not used again. */
  lostAt: number;
}

/** Creates a pool, which connects on first use. `name` is the pool's name in the metrics. */
export function openConnections(name: string, servers: DatabaseServers, config: pg.PoolConfig): Connections {
  const pool = new pg.Pool({ ...config, Client: failoverClient(servers) });
  watchPool(name, pool);
  const connectedAt = new WeakMap<pg.PoolClient, number>();
  const broken = new WeakSet<pg.PoolClient>();
  pool.on('connect', (client) => {
    connectedAt.set(client, performance.now());
    // The pool handles errors of idle clients only. An unhandled error of a client in use would end the process.
    client.on('error', () => broken.add(client));
  });
  // The pool replaces a broken idle client at the next use.
  pool.on('error', () => {});
  return { pool, connectedAt, broken, servers, lostAt: -Infinity };
}

/**
 * Takes a connection that was opened after the last loss of one, and closes older ones. A server that restarts closes all
 * connections, but the process detects this for each of them separately.
 */
async function connect(connections: Connections): Promise<pg.PoolClient> {
  for (;;) {
    const client = await connectToAny(connections.pool, connections.servers);
    if ((connections.connectedAt.get(client) ?? 0) > connections.lostAt) return client;
    client.release(true);
  }
}

interface DriverParts {
  connections: Connections;
  availability: Availability;
  /** The connections run single reads only, which are repeated when a connection breaks. */
  readOnly: boolean;
}

/** Kysely's dialect for PostgreSQL over a pool, with the options of `StatementOptions`. */
export function postgresDialect(parts: DriverParts): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new SessionDriver(parts),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

export const commit = CompiledQuery.raw('commit');
export const rollback = CompiledQuery.raw('rollback');

/** Kysely's driver over a pool. It distinguishes failures of the database from failures of the statement. */
class SessionDriver implements Driver {
  readonly #parts: DriverParts;
  readonly #prepared = new PreparedStatements();

  constructor(parts: DriverParts) {
    this.#parts = parts;
  }

  async init(): Promise<void> {}

  /** @throws StoreUnavailable when the database does not answer, or no connection becomes free in time */
  async acquireConnection(): Promise<Session> {
    const session = new Session(this.#parts, this.#prepared);
    await session.open();
    return session;
  }

  async beginTransaction(
    session: DatabaseConnection,
    { isolationLevel, accessMode }: TransactionSettings,
  ): Promise<void> {
    const isolation = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
    await session.executeQuery(CompiledQuery.raw(`begin${isolation} ${accessMode ?? ''}`));
  }

  async commitTransaction(session: DatabaseConnection): Promise<void> {
    await session.executeQuery(commit);
  }

  async rollbackTransaction(session: DatabaseConnection): Promise<void> {
    await session.executeQuery(rollback);
  }

  async releaseConnection(session: DatabaseConnection): Promise<void> {
    if (session instanceof Session) session.release();
  }

  destroy(): Promise<void> {
    return this.#parts.connections.pool.end();
  }
}

/** One use of a connection. */
class Session implements DatabaseConnection {
  readonly #connections: Connections;
  readonly #availability: Availability;
  readonly #prepared: PreparedStatements;
  #repeats: number;
  #client: pg.PoolClient | undefined;
  /** Statements whose failure the next query reports. */
  readonly #pipelined: Promise<unknown>[] = [];

  constructor({ connections, availability, readOnly }: DriverParts, prepared: PreparedStatements) {
    this.#connections = connections;
    this.#availability = availability;
    this.#prepared = prepared;
    this.#repeats = readOnly ? maxRepeats : 0;
  }

  async open(): Promise<void> {
    try {
      this.#client = await connect(this.#connections);
      this.#availability.markAvailable();
    } catch (error) {
      this.#availability.markUnavailable(error);
      throw new StoreUnavailable(error, 'DATABASE_URL');
    }
  }

  async executeQuery<Row>(query: QueryWithOptions): Promise<QueryResult<Row>> {
    const client = this.#client;
    // A transaction does not continue over another connection.
    if (client === undefined) throw new ConnectionLost(new Error('the connection was discarded'));
    const sent = this.#send(client, query);
    if (query.options?.pipelined === true) {
      sent.catch(() => {});
      this.#pipelined.push(sent);
      return { rows: [] };
    }
    try {
      const outcomes = await Promise.allSettled([...this.#pipelined.splice(0), sent]);
      // The first failure causes the later ones.
      const failure = outcomes.find(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected') throw failure.reason;
      return resultOf(query, await sent);
    } catch (error) {
      if (error instanceof Conflict) throw error;
      const kind = failureKind(error, this.#connections.broken.has(client));
      // After an error that is not the server's, pg can leave the connection in an unusable state. A server that has
      // become read-only is no longer the primary.
      if (kind === 'lost' || !(error instanceof pg.DatabaseError) || isReadOnly(error)) this.#discard();
      if (kind === 'conflict') throw new Conflict(error);
      if (kind === 'shortage') throw new StoreUnavailable(error, 'DATABASE_URL');
      if (kind === 'statement') throw error;
      // After a timeout, the other connections may still work.
      if (!isQueryTimeout(error)) this.#connections.lostAt = performance.now();
      if (this.#repeats === 0) throw new ConnectionLost(error);
      this.#repeats -= 1;
    }
    await this.open();
    return this.executeQuery(query);
  }

  async #send(
    client: pg.PoolClient,
    { sql, parameters, options }: QueryWithOptions,
  ): Promise<pg.QueryResult> {
    const query = { text: sql, values: [...parameters] };
    const name = options?.prepared === true ? this.#prepared.nameOf(sql) : undefined;
    if (name === undefined) return client.query(query);
    return client.query({ ...query, name }).catch((error: unknown) => {
      throw this.#prepared.failed(name, error) ? new Conflict(error) : error;
    });
  }

  streamQuery(): never {
    throw new Error('results are not streamed');
  }

  release(): void {
    if (this.#client?.getTransactionStatus() === 'I') this.#client.release();
    else this.#discard();
    this.#client = undefined;
  }

  #discard(): void {
    this.#client?.release(true);
    this.#client = undefined;
  }
}

const changing = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

function resultOf<Row>(query: CompiledQuery, results: pg.QueryResult | pg.QueryResult[]): QueryResult<Row> {
  // A text with several statements has several results. Only the last one matters.
  const result = [results].flat().at(-1);
  const { command = '', rowCount = 0, rows = [] } = result ?? {};
  if (query === commit && command === 'ROLLBACK')
    throw new Error('a command continued after an error of its own');
  return { rows, ...(changing.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }) };
}
