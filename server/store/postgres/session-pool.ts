import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { type Availability, StoreUnavailable } from '../availability.ts';
import { unwaitedMark } from '../statement.ts';
import { failureKind } from './failures.ts';
import { PreparedStatements } from './prepared.ts';
import { watchPool } from './watch-pool.ts';

/** The connection broke, or has to be thrown away. What it was sent last may have been carried out. */
export class ConnectionLost extends StoreUnavailable {}

/** The transaction was undone for another one's sake, and may run again at once. */
export class Conflict extends StoreUnavailable {}

/** So often a read that a broken connection cut off is asked again, each time over another connection. */
const repeats = 2;

/** Connections, and which of them have broken. */
export interface Connections {
  readonly pool: pg.Pool;
  readonly broken: WeakSet<pg.PoolClient>;
}

/** Makes no connection before one is needed. `name` is for those who watch the pool. */
export function openConnections(name: string, config: pg.PoolConfig): Connections {
  const pool = new pg.Pool(config);
  watchPool(name, pool);
  const broken = new WeakSet<pg.PoolClient>();
  // The pool listens only to its idle clients: one that breaks in use would end the process.
  pool.on('connect', (client) => client.on('error', () => broken.add(client)));
  // An idle client that breaks is replaced at the next use.
  pool.on('error', () => {});
  return { pool, broken };
}

/** A pool as Kysely takes it, which tells failures of the database apart from those of the program. */
export class SessionPool implements PostgresPool {
  readonly options = {};
  readonly #connections: Connections;
  readonly #repeats: number;
  readonly #availability: Availability;
  readonly #prepared = new PreparedStatements();

  /** `readOnly`: only single queries that read go over it, so they may be asked twice. */
  constructor(connections: Connections, availability: Availability, { readOnly = false } = {}) {
    this.#connections = connections;
    this.#availability = availability;
    this.#repeats = readOnly ? repeats : 0;
  }

  /** @throws StoreUnavailable when the database cannot be reached, or no connection becomes free in time. */
  async connect(): Promise<PostgresPoolClient> {
    const session = new Session(() => this.#open(), this.#connections.broken, this.#prepared, this.#repeats);
    await session.open();
    // Kysely's type has cursors, too, which nothing here uses.
    return session as unknown as PostgresPoolClient;
  }

  end(): Promise<void> {
    return this.#connections.pool.end();
  }

  async #open(): Promise<pg.PoolClient> {
    try {
      const client = await this.#connections.pool.connect();
      this.#availability.found();
      return client;
    } catch (error) {
      this.#availability.lost(error);
      throw new StoreUnavailable(error);
    }
  }
}

/** For a statement of which nobody reads more. */
const unread: PostgresQueryResult<unknown> = { command: 'UPDATE', rowCount: 0, rows: [] };

/** One use of a connection. */
class Session {
  readonly #connect: () => Promise<pg.PoolClient>;
  readonly #broken: WeakSet<pg.PoolClient>;
  readonly #prepared: PreparedStatements;
  #repeats: number;
  #client: pg.PoolClient | undefined;
  /** What the next query is told the failure of. */
  readonly #unwaited: Promise<unknown>[] = [];

  constructor(
    connect: () => Promise<pg.PoolClient>,
    broken: WeakSet<pg.PoolClient>,
    prepared: PreparedStatements,
    repeats: number,
  ) {
    this.#connect = connect;
    this.#broken = broken;
    this.#prepared = prepared;
    this.#repeats = repeats;
  }

  async open(): Promise<void> {
    this.#client = await this.#connect();
  }

  async query(text: string, values: unknown[]): Promise<PostgresQueryResult<unknown>> {
    const client = this.#client;
    // A transaction does not go on over another connection.
    if (client === undefined) throw new ConnectionLost(new Error('the connection was given up'));
    const sent = this.#send(client, text, values);
    if (text.includes(unwaitedMark)) {
      sent.catch(() => {});
      this.#unwaited.push(sent);
      return unread;
    }
    try {
      const outcomes = await Promise.allSettled([...this.#unwaited.splice(0), sent]);
      // The first failure is the reason of those behind it, which may be heard of sooner.
      const failure = outcomes.find(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected') throw failure.reason;
      const result = await sent;
      // Statements in one text have a result each, and the last one counts.
      return [result].flat().at(-1) as PostgresQueryResult<unknown>;
    } catch (error) {
      if (error instanceof Conflict) throw error;
      const kind = failureKind(error, this.#broken.has(client));
      // Where the error is not the server's, pg does not always leave the connection in order.
      if (kind === 'lost' || !(error instanceof pg.DatabaseError)) this.#drop();
      if (kind === 'conflict') throw new Conflict(error);
      if (kind === 'shortage') throw new StoreUnavailable(error);
      if (kind === 'fault') throw error;
      if (this.#repeats === 0) throw new ConnectionLost(error);
      this.#repeats -= 1;
    }
    await this.open();
    return this.query(text, values);
  }

  async #send(client: pg.PoolClient, text: string, values: unknown[]): Promise<pg.QueryResult> {
    const name = this.#prepared.nameOf(text);
    if (name === undefined) return client.query({ text, values });
    return client.query({ name, text, values }).catch((error: unknown) => {
      throw this.#prepared.failed(name, error) ? new Conflict(error) : error;
    });
  }

  release(): void {
    if (this.#client?.getTransactionStatus() === 'I') this.#client.release();
    else this.#drop();
    this.#client = undefined;
  }

  #drop(): void {
    this.#client?.release(true);
    this.#client = undefined;
  }
}
