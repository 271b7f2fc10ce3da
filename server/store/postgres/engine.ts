import { randomBytes, randomUUID } from 'node:crypto';
import { Kysely, sql } from 'kysely';
import type pg from 'pg';
import { standardLimits } from '../../settings/database.ts';
import { Availability, Probe, probeLimitMs } from '../availability.ts';
import { type Args, type CommandName, type Result, runCommand } from '../commands/registry.ts';
import { migrate } from '../migrate.ts';
import { laneOf, type ReportResult, runReport } from '../reports.ts';
import type { Database, Db } from '../schema.ts';
import type { Store, StoreOptions } from '../store.ts';
import { PostgresChangeFeed } from './change-feed.ts';
import { Commits } from './commits.ts';
import { type Connections, openConnections, postgresDialect } from './driver.ts';
import { DatabaseServers, failoverClient } from './failover-client.ts';
import { inTransaction } from './transaction.ts';
import { numbersAsNumbers } from './types.ts';

/** Commands of the poller have separate connections, so that requests do not delay polls. */
const polling = new Set<CommandName>(['recordHeartbeat', 'claimTasks', 'claimTask', 'recordPolls']);
const pollingConnections = 3;

/** Requests wait for these commands, so they have a separate connection and a short time limit. */
const sharing = new Set<CommandName>(['drawRequests', 'claimPlaces', 'sweepAllowances']);
const sharingTimeoutMs = 2_000;

/** Longest time for a query of the change feed, in milliseconds. */
const feedTimeoutMs = 5_000;

/** Reports must not use the connections of requests. */
const reportConnections = 3;
/** One statement of an audit reads the whole log. In milliseconds. */
const auditTimeoutMs = 300_000;
/** Commands that read as much share the connection of audits. */
const slow = new Set<CommandName>(['dropLogDay']);
/** Idempotent commands. They are frequent, so they skip the write that records their commit. */
const idempotent = new Set<CommandName>([
  'recordHeartbeat',
  'releaseOrphans',
  // A repetition takes too many requests from the bucket, which refills within a minute.
  'drawRequests',
  'claimPlaces',
  'shareChannelHealth',
  'sweepAllowances',
  'claimTasks',
  'recordPolls',
  'claimDeliveries',
  'rollUpLog',
]);

/** The client waits this much longer than the time limit of the server, in milliseconds. */
const timeoutMarginMs = 2_000;

/** Opens the store in a PostgreSQL database, which several gateways can share. Creates `schema` if it does not exist. */
export async function openPostgresStore(
  databaseUrl: string,
  {
    schema,
    postgres = standardLimits,
    onAvailability = () => {},
    changeFeed,
  }: Pick<StoreOptions, 'schema' | 'postgres' | 'onAvailability' | 'changeFeed'>,
): Promise<Store> {
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Error(`the PostgreSQL schema name "${schema}" must be lower-case letters, digits and _`);
  }
  const servers = new DatabaseServers(databaseUrl);
  const common: pg.ClientConfig = {
    ...(schema === undefined ? {} : { options: `-c search_path=${schema}` }),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Sends pipelined statements at once.
    pipeline: true,
    connectionTimeoutMillis: postgres.connectTimeoutMs,
    types: numbersAsNumbers,
  };
  const opened: Connections[] = [];
  let invalidateProbe = () => {};
  const connect = (name: string, config: pg.PoolConfig) => {
    const connections = openConnections(name, servers, { ...common, ...config });
    connections.pool.on('error', () => invalidateProbe());
    opened.push(connections);
    return connections;
  };
  const availability = new Availability(onAvailability);
  const kyselyOver = (connections: Connections, readOnly = false) =>
    new Kysely<Database>({ dialect: postgresDialect({ connections, availability, readOnly }) });
  const end = () => Promise.all(opened.splice(0).map(({ pool }) => pool.end()));

  try {
    // Without a time limit.
    await migrate(kyselyOver(connect('migration', { max: 1 })), 'postgres', { schema });
  } finally {
    await end();
  }

  const limitsOf = (timeoutMs: number): pg.PoolConfig => ({
    statement_timeout: timeoutMs,
    idle_in_transaction_session_timeout: postgres.idleInTransactionTimeoutMs,
    query_timeout: timeoutMs + timeoutMarginMs,
  });
  const limits = limitsOf(postgres.statementTimeoutMs);
  const connections = connect('requests', { ...limits, max: postgres.connections });
  const db = kyselyOver(connections);
  const pollingDb = kyselyOver(connect('polls', { ...limits, max: pollingConnections }));
  const sharingDb = kyselyOver(
    connect('sharing', {
      max: 1,
      connectionTimeoutMillis: sharingTimeoutMs,
      statement_timeout: sharingTimeoutMs,
      idle_in_transaction_session_timeout: sharingTimeoutMs,
      query_timeout: sharingTimeoutMs,
    }),
  );
  const reportDb = kyselyOver(connect('reports', { ...limits, max: reportConnections }), true);
  // Not read-only, since an audit is one transaction, which must not be repeated in part.
  const auditDb = kyselyOver(connect('audit', { ...limitsOf(auditTimeoutMs), max: 1 }));
  const probeLimits = { connectionTimeoutMillis: probeLimitMs, query_timeout: probeLimitMs };
  const probing = connect('probe', { ...probeLimits, max: 1 });
  const probeDb = kyselyOver(probing, true);
  const growthDb = kyselyOver(probing);
  const probe = new Probe(async (failedBefore) => {
    // On a standby, `txid_current` fails, and the driver discards the connection: the address can lead to the primary by now.
    await sql`select case when pg_is_in_recovery() then txid_current() end`.execute(probeDb);
    // With a full disk, the server still writes into free space within its files.
    if (failedBefore) await growAndUndo(growthDb);
  });
  invalidateProbe = () => probe.invalidate();
  // On a busy machine, a first check that connects can exceed its time limit. If this fails, that check reports it.
  await sql`select 1`.execute(probeDb).catch(() => {});

  const connectionsFor = (name: CommandName) => {
    if (polling.has(name)) return pollingDb;
    if (sharing.has(name)) return sharingDb;
    return slow.has(name) ? auditDb : db;
  };

  const commits = new Commits();
  await commits.deleteAll(db);

  const { databaseUrl: listenUrl } = changeFeed ?? {};
  const FeedClient = failoverClient(
    listenUrl === undefined ? servers : new DatabaseServers(listenUrl, 'DATABASE_LISTEN_URL'),
  );
  const feed =
    changeFeed === undefined
      ? undefined
      : new PostgresChangeFeed({
          open: () => new FeedClient({ ...common, query_timeout: feedTimeoutMs }),
          notify: async (channel, payload) => {
            await sql`select pg_notify(${channel}, ${payload})`.execute(sharingDb);
          },
          onConnection: changeFeed.onConnection,
        });

  const retries = new AbortController();
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;
  return {
    engine: 'postgres',
    changeFeed: feed,
    read: kyselyOver(connections, true),
    run<Name extends CommandName>(name: Name, args: Args<Name>) {
      if (closed !== undefined) return Promise.reject(new Error('the store is closed'));
      const result = inTransaction(
        connectionsFor(name),
        idempotent.has(name) ? undefined : commits,
        retries.signal,
        (trx) => runCommand(trx, name, args),
      );
      running.add(result);
      const done = () => running.delete(result);
      result.then(done, done);
      probe.watch(result);
      return result as Promise<Result<Name>>;
    },
    report: (name, args) =>
      runReport(laneOf(name) === 'audits' ? auditDb : reportDb, name, args) as Promise<
        ReportResult<typeof name>
      >,
    check: () => probe.check(),
    // A database that is unavailable can come back.
    failed: new Promise(() => {}),
    retrySignal: retries.signal,
    stopRetries: () => retries.abort(),
    close() {
      closed ??= Promise.allSettled(running).then(async () => {
        retries.abort();
        await feed?.stop();
        // Rows of a database that is unavailable remain for a day.
        await commits.deleteAll(db).catch(() => {});
        await end();
      });
      return closed;
    },
  };
}

/** Larger than the free space of a table, in bytes. The text is incompressible, and a third longer. */
const growthBytes = 24 * 1024;

/** Extends a file of the database, and rolls back. @throws StoreUnavailable when the disk is full */
async function growAndUndo(db: Db): Promise<void> {
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
