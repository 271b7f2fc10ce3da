import { randomBytes, randomUUID } from 'node:crypto';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import { standardLimits } from '../../settings/database.ts';
import { Availability, Probe, probeLimit } from '../availability.ts';
import { type Args, type CommandName, commandNamed, type Result } from '../commands/registry.ts';
import { migrate } from '../migrate.ts';
import { laneOf, type ReportResult, reportNamed } from '../reports.ts';
import type { Database } from '../schema.ts';
import type { Store, StoreOptions } from '../store.ts';
import { Commits } from './commits.ts';
import { type Connections, openConnections, postgresDialect } from './driver.ts';
import { Listener } from './listener.ts';
import { inTransaction } from './transaction.ts';
import { numbersAsNumbers } from './types.ts';

/** What keeps tasks going has connections of its own: a rush of requests must not make polls late. */
const polling: ReadonlySet<CommandName> = new Set(['beat', 'claimTasks', 'claimTask', 'recordPolls']);
const pollingConnections = 3;

/** Requests wait for these at times, so they wait for nothing else, and not for long. In milliseconds. */
const sharing: ReadonlySet<CommandName> = new Set(['drawRequests', 'claimSockets', 'sweepAllowances']);
const sharingLimit = 2_000;

/** Longest time for a query of the listening connection, in milliseconds. */
const listeningLimit = 5_000;

/** Reports must not take the connections of requests. */
const reportConnections = 3;
/** One statement of an audit reads all books, and may take so long, in milliseconds. */
const auditTimeoutMs = 300_000;
/** What reads as much and is in no hurry waits for its turn with them. */
const patient: ReadonlySet<CommandName> = new Set(['dropLogDay']);
/** Doing these twice is the same as doing them once. They come all the time, so they must not write without need. */
const repeatable: ReadonlySet<CommandName> = new Set([
  'beat',
  'freeOrphans',
  // Twice, it takes too much, which the next minute fills up.
  'drawRequests',
  'claimSockets',
  'sweepAllowances',
  'claimTasks',
  'recordPolls',
  'claimDeliveries',
  'rollUpLog',
]);

/** A server that says nothing at all is given up so much later than its own time limit, in milliseconds. */
const silenceMargin = 2_000;

/** The store in a PostgreSQL database, for several gateways at once. `schema` is made when it is not there. */
export async function openPostgresStore(
  databaseUrl: string,
  {
    schema,
    postgres = standardLimits,
    onAvailability = () => {},
    hear,
  }: Pick<StoreOptions, 'schema' | 'postgres' | 'onAvailability' | 'hear'>,
): Promise<Store> {
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Error(`the PostgreSQL schema name "${schema}" must be lower-case letters, digits and _`);
  }
  const common: pg.ClientConfig = {
    connectionString: databaseUrl,
    ...(schema === undefined ? {} : { options: `-c search_path=${schema}` }),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // What is not waited for goes out at once.
    pipeline: true,
    connectionTimeoutMillis: postgres.connectTimeoutMs,
    types: numbersAsNumbers,
  };
  const opened: Connections[] = [];
  let doubt = () => {};
  const connect = (name: string, config: pg.PoolConfig) => {
    const connections = openConnections(name, { ...common, ...config });
    connections.pool.on('error', () => doubt());
    opened.push(connections);
    return connections;
  };
  const availability = new Availability(onAvailability);
  const kyselyOver = (connections: Connections, readOnly = false) =>
    new Kysely<Database>({ dialect: postgresDialect({ connections, availability, readOnly }) });
  const end = () => Promise.all(opened.splice(0).map(({ pool }) => pool.end()));

  try {
    // A migration takes the time that it takes.
    await migrate(kyselyOver(connect('migration', { max: 1 })), 'postgres', { schema });
  } finally {
    await end();
  }

  const { statementTimeoutMs, idleInTransactionTimeoutMs } = postgres;
  const limits: pg.PoolConfig = {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    query_timeout: statementTimeoutMs + silenceMargin,
  };
  const connections = connect('requests', { ...limits, max: postgres.connections });
  const db = kyselyOver(connections);
  const pollingDb = kyselyOver(connect('polls', { ...limits, max: pollingConnections }));
  const sharingDb = kyselyOver(
    connect('sharing', {
      max: 1,
      connectionTimeoutMillis: sharingLimit,
      statement_timeout: sharingLimit,
      idle_in_transaction_session_timeout: sharingLimit,
      query_timeout: sharingLimit,
    }),
  );
  const reportDb = kyselyOver(connect('reports', { ...limits, max: reportConnections }), true);
  // A transaction, so that nothing of it may be asked twice.
  const auditDb = kyselyOver(
    connect('audit', {
      ...limits,
      statement_timeout: auditTimeoutMs,
      query_timeout: auditTimeoutMs + silenceMargin,
      max: 1,
    }),
  );
  const probeLimits = { connectionTimeoutMillis: probeLimit, query_timeout: probeLimit };
  const probing = connect('probe', { ...probeLimits, max: 1 });
  const probeDb = kyselyOver(probing, true);
  const growthDb = kyselyOver(probing);
  const probe = new Probe(async (doubted) => {
    const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(probeDb);
    if (rows[0]?.standby !== false) throw new Error('the database is a standby, which cannot be written');
    // With a full disk it answers questions, and writes what there is room for in its files.
    if (doubted) await growAndUndo(growthDb);
  });

  doubt = () => probe.doubt();

  const connectionsFor = (name: CommandName) => {
    if (polling.has(name)) return pollingDb;
    if (sharing.has(name)) return sharingDb;
    return patient.has(name) ? auditDb : db;
  };

  const commits = new Commits();
  await commits.forget(db);

  const listener =
    hear === undefined
      ? undefined
      : new Listener({
          open: () =>
            new pg.Client({
              ...common,
              connectionString: hear.databaseUrl ?? databaseUrl,
              query_timeout: listeningLimit,
            }),
          notify: async (channel, payload) => {
            await sql`select pg_notify(${channel}, ${payload})`.execute(sharingDb);
          },
          onHearing: hear.onHearing,
        });

  const over = new AbortController();
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;
  return {
    engine: 'postgres',
    hearing: listener,
    read: kyselyOver(connections, true),
    run<Name extends CommandName>(name: Name, args: Args<Name>) {
      if (closed !== undefined) return Promise.reject(new Error('the store is closed'));
      const command = commandNamed(name);
      const result = inTransaction(
        connectionsFor(name),
        repeatable.has(name) ? undefined : commits,
        over.signal,
        (trx) => command(trx, args),
      );
      running.add(result);
      const done = () => running.delete(result);
      result.then(done, done);
      probe.watch(result);
      return result as Promise<Result<Name>>;
    },
    report: (name, args) =>
      reportNamed(name)(laneOf[name] === 'audits' ? auditDb : reportDb, args) as Promise<
        ReportResult<typeof name>
      >,
    check: () => probe.check(),
    // A database that is away comes back.
    failed: new Promise(() => {}),
    over: over.signal,
    giveUp: () => over.abort(),
    close() {
      closed ??= Promise.allSettled(running).then(async () => {
        over.abort();
        await listener?.stop();
        // One that cannot be asked keeps them for a while.
        await commits.forget(db).catch(() => {});
        await end();
      });
      return closed;
    },
  };
}

/** More than any table has room for without growing, in bytes; as text, which does not become shorter, a third more. */
const growthBytes = 24 * 1024;

/** Writes what a file of the database must grow for, and undoes it. @throws StoreUnavailable when it may not grow */
async function growAndUndo(db: Kysely<Database>): Promise<void> {
  const transaction = await db.startTransaction().execute();
  try {
    const value = randomBytes(growthBytes).toString('base64');
    await transaction
      .insertInto('secrets')
      .values({ name: `probe_${randomUUID()}`, value })
      .execute();
  } finally {
    await transaction.rollback().execute();
  }
}
