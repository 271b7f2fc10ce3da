import type { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { standardLimits } from '../../settings/database.ts';
import { SettingsError } from '../../settings/settings-error.ts';
import { Availability, StoreUnavailable } from '../availability.ts';
import { fault } from '../fault-points.ts';
import { lockMigrations, migrate } from '../migrate.ts';
import { type Audit, auditLedger } from '../queries/audit.ts';
import { readSnapshot } from '../read-snapshot.ts';
import type { Database, Db } from '../schema.ts';
import { databaseFile, openReader } from '../sqlite/connection.ts';
import { lockFolder } from '../sqlite/folder-lock.ts';
import { copyTable, countRows, requireEmpty, restartSequences, tablesToCopy } from './copy-tables.ts';
import { openConnections, postgresDialect } from './driver.ts';
import { DatabaseServers } from './failover-client.ts';
import { numbersAsNumbers } from './types.ts';

export interface DatabaseCopy {
  /** Number of copied rows by table. */
  rows: Readonly<Record<string, number>>;
  /** Ledger audit of the target, which equals that of the source. */
  audit: Audit;
}

interface CopyOptions {
  /** Folder of the SQLite database. No gateway may use it. */
  dataDir: string;
  /** `postgres://…` */
  databaseUrl: string;
  /** Option or variable that names the target, for errors. Default: `DATABASE_URL`. */
  variable?: string | undefined;
  /** PostgreSQL schema. Default: the schema of the connection. */
  schema?: string | undefined;
  signal: AbortSignal;
}

/**
 * Copies a SQLite database to an empty PostgreSQL database in one transaction, and verifies it by row counts and the ledger audit.
 * The source does not change. A failure leaves the target without rows.
 *
 * @throws SettingsError when a gateway uses the source, the target has rows or does not respond, or the copy differs
 */
export async function copyToPostgres({
  dataDir,
  databaseUrl,
  variable = 'DATABASE_URL',
  schema,
  signal,
}: CopyOptions): Promise<DatabaseCopy> {
  const servers = new DatabaseServers(databaseUrl, variable);
  const file = databaseFile(dataDir);
  const lock = lockFolder(dataDir);
  try {
    const audit = await readSnapshot({ dataDir }, auditLedger);
    const source = openReader(file);
    try {
      return await withTarget(servers, schema, (target) => copyVerified(source, audit, target, signal)).catch(
        (error: unknown) => {
          if (!(error instanceof StoreUnavailable)) throw error;
          const reason = error.cause instanceof Error ? error.cause.message : 'it does not respond';
          throw new SettingsError(`${variable}: the target database cannot be used: ${reason}.`, {
            cause: error,
          });
        },
      );
    } finally {
      source.close();
    }
  } finally {
    lock.release();
  }
}

/** Opens the target without time limits for statements, and creates its tables. */
async function withTarget<T>(
  servers: DatabaseServers,
  schema: string | undefined,
  use: (target: Kysely<Database>) => Promise<T>,
): Promise<T> {
  const connections = openConnections('copy', servers, {
    max: 1,
    keepAlive: true,
    connectionTimeoutMillis: standardLimits.connectTimeoutMs,
    types: numbersAsNumbers,
    ...(schema === undefined ? {} : { options: `-c search_path=${schema}` }),
  });
  const availability = new Availability(() => {});
  const target = new Kysely<Database>({
    dialect: postgresDialect({ connections, availability, readOnly: false }),
  });
  try {
    await migrate(target, 'postgres', { schema });
    return await use(target);
  } finally {
    await connections.pool.end();
  }
}

function copyVerified(
  source: DatabaseSync,
  expected: Audit,
  target: Kysely<Database>,
  signal: AbortSignal,
): Promise<DatabaseCopy> {
  const transaction = target.transaction().setIsolationLevel('read committed');
  return transaction.execute(async (trx: Db) => {
    // A gateway that starts on the target waits for this lock until the copy is complete.
    await lockMigrations(trx);
    const tables = tablesToCopy(source);
    await requireEmpty(trx, tables);
    const rows: Record<string, number> = {};
    for (const table of tables) rows[table] = await copyTable(source, trx, table, signal);
    await restartSequences(source, trx);
    fault('database_copied');
    await requireEqualCounts(source, trx, [...tables, 'log_counts']);
    const audit = await auditLedger(trx);
    requireEqualAudits(expected, audit);
    signal.throwIfAborted();
    return { rows, audit };
  });
}

async function requireEqualCounts(
  source: DatabaseSync,
  target: Db,
  tables: readonly string[],
): Promise<void> {
  for (const table of tables) {
    const { rows: counts } = await sql<{ total: number }>`
      select count(*) as total from ${sql.table(table)}`.execute(target);
    const expected = countRows(source, table);
    const total = counts[0]?.total;
    if (total === expected) continue;
    throw new SettingsError(
      `The copy was undone: table ${table} has ${total} rows, which should be ${expected}.`,
    );
  }
}

/** Compares the sums and the number of problems. */
function requireEqualAudits(expected: Audit, actual: Audit): void {
  const summary = ({ problems, debtors, ...sums }: Audit) =>
    JSON.stringify({ ...sums, problems: problems.length, debtors: debtors.length });
  const [before, after] = [summary(expected), summary(actual)];
  if (before === after) return;
  throw new SettingsError(
    `The copy was undone: its ledger audit is ${after}, while that of the source is ${before}.`,
  );
}
