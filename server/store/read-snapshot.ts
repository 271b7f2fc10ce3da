import { Kysely } from 'kysely';
import { SettingsError } from '../settings/settings-error.ts';
import { Availability } from './availability.ts';
import { appliedMigrations, pendingMigrations } from './migrate.ts';
import { openConnections, postgresDialect } from './postgres/driver.ts';
import { DatabaseServers } from './postgres/failover-client.ts';
import { numbersAsNumbers } from './postgres/types.ts';
import type { Database, Db } from './schema.ts';
import { inSnapshot } from './snapshot.ts';
import { databaseFile, openReader } from './sqlite/connection.ts';
import { nodeSqliteDialect } from './sqlite/dialect.ts';
import type { StoreOptions } from './store.ts';

type DatabaseOptions = Pick<StoreOptions, 'dataDir' | 'databaseUrl' | 'schema'>;

/** The database has the schema of an older version. */
export class OlderSchemaError extends SettingsError {}

/**
 * Reads a database in one snapshot, also while a gateway uses it. Cannot write.
 *
 * @throws SettingsError when there is no database, or its schema is of another version
 */
export async function readSnapshot<T>(options: DatabaseOptions, use: (db: Db) => Promise<T>): Promise<T> {
  const db = new Kysely<Database>({ dialect: openDialect(options) });
  try {
    return await inSnapshot(db, async (connection) => {
      await requireVersion(connection);
      return use(connection);
    });
  } finally {
    await db.destroy();
  }
}

function openDialect({ dataDir, databaseUrl, schema }: DatabaseOptions) {
  if (databaseUrl === undefined) return nodeSqliteDialect(openReader(databaseFile(dataDir)));
  const options = schema === undefined ? {} : { options: `-c search_path=${schema}` };
  const connections = openConnections('snapshot', new DatabaseServers(databaseUrl), {
    max: 1,
    types: numbersAsNumbers,
    ...options,
  });
  return postgresDialect({ connections, availability: new Availability(() => {}), readOnly: false });
}

async function requireVersion(db: Db): Promise<void> {
  const applied = await appliedMigrations(db as unknown as Kysely<unknown>).catch((cause: unknown) => {
    throw new SettingsError('The database has no tables of a gateway.', { cause });
  });
  if (pendingMigrations(applied).length > 0)
    throw new OlderSchemaError('The database is of an older version: start the gateway once.');
}
