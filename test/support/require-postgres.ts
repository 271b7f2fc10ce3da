import pg from 'pg';
import { databaseUrl } from '../store/engines.ts';

/** Exits with 1 and a message if PostgreSQL does not respond. Creates the database of the tests if it is missing. */
const { hostname, port, pathname } = new URL(databaseUrl);
const database = decodeURIComponent(pathname.slice(1));

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  return client;
}

const isMissingDatabase = (error: unknown) => error instanceof pg.DatabaseError && error.code === '3D000';

try {
  const client = await connect(databaseUrl).catch(async (error: unknown) => {
    if (!isMissingDatabase(error)) throw error;
    const maintenance = new URL(databaseUrl);
    maintenance.pathname = '/postgres';
    const server = await connect(maintenance.href);
    await server.query(`create database ${pg.escapeIdentifier(database)}`);
    return server;
  });
  await client.end();
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  console.error(`PostgreSQL must respond at ${hostname}:${port || '5432'}, database ${database}: ${reason}`);
  process.exitCode = 1;
}
