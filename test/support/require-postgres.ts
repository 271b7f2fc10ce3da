import pg from 'pg';
import { databaseUrl } from '../store/engines.ts';

/** Fails with a sentence when PostgreSQL does not answer; makes the tests' database when the server has none. */
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
  console.error(`PostgreSQL must answer at ${hostname}:${port || '5432'}, database ${database}: ${reason}`);
  process.exitCode = 1;
}
