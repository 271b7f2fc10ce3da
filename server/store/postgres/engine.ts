import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { type Args, type CommandName, commandNamed, type Result } from '../commands/registry.ts';
import { migrate } from '../migrate.ts';
import type { Database } from '../schema.ts';
import type { Store } from '../store.ts';

const ATTEMPTS = 3;
/** Serialization failure and deadlock: the transaction is undone and may simply run again. */
const CONFLICTS = new Set(['40001', '40P01']);
/** int8, and numeric, which is what a sum of int8 is: both stay below 2^53 here. */
const NUMBERS = new Set([20, 1700]);

/** What keeps tasks going has connections of its own: a rush of requests must not make polls late. */
const polling: ReadonlySet<CommandName> = new Set(['beat', 'claimTasks', 'claimTask', 'recordPolls']);
const pollingConnections = 3;

/** The store in a PostgreSQL database, for several gateways at once. `schema` is made when it is not there. */
export async function openPostgresStore(databaseUrl: string, schema?: string): Promise<Store> {
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Error(`the PostgreSQL schema name "${schema}" must be lower-case letters, digits and _`);
  }
  const connect = (more: pg.PoolConfig = {}) => {
    const pool = new pg.Pool({
      connectionString: databaseUrl,
      ...(schema === undefined ? {} : { options: `-c search_path=${schema}` }),
      types: {
        getTypeParser: (oid: number, format?: 'text' | 'binary') =>
          NUMBERS.has(oid) ? Number : pg.types.getTypeParser(oid, format),
      },
      ...more,
    });
    // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
    pool.on('error', () => {});
    return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  };
  const db = connect();
  try {
    await migrate(db, 'postgres', schema);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const pollingDb = connect({ max: pollingConnections });

  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;
  return {
    engine: 'postgres',
    read: db,
    run(name, args) {
      if (closed !== undefined) return Promise.reject(new Error('the store is closed'));
      const result = runCommand(polling.has(name) ? pollingDb : db, name, args);
      running.add(result);
      const done = () => running.delete(result);
      result.then(done, done);
      return result;
    },
    close() {
      closed ??= Promise.allSettled(running).then(async () => {
        await Promise.all([db.destroy(), pollingDb.destroy()]);
      });
      return closed;
    },
  };
}

async function runCommand<Name extends CommandName>(
  db: Kysely<Database>,
  name: Name,
  args: Args<Name>,
): Promise<Result<Name>> {
  const transaction = db.transaction().setIsolationLevel('read committed');
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await transaction.execute((trx) => commandNamed(name)(trx, args))) as Result<Name>;
    } catch (error) {
      if (attempt === ATTEMPTS || !CONFLICTS.has(String((error as { code?: unknown }).code))) throw error;
    }
  }
}
