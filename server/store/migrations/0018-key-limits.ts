import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db, { engine }) => {
  await db.schema.alterTable('tokens').addColumn('requests_per_minute', 'bigint').execute();
  await db.schema.alterTable('tokens').addColumn('sockets', 'bigint').execute();

  // What several gateways have to agree on. A server that crashes may forget it: nothing was used then.
  if (engine === 'sqlite') return;
  await sql`
    create unlogged table allowances (
      token_id bigint primary key,
      remaining double precision not null,
      filled_at double precision not null
    ) with (fillfactor = 50)`.execute(db);
  await sql`create index allowances_filled on allowances (filled_at)`.execute(db);
};
