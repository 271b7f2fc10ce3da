import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** What several gateways have to agree on. A server that crashes may forget it: gateways tell of it again and again. */
export const migration: Migration = async (db, { engine }) => {
  if (engine === 'sqlite') return;
  await sql`
    create unlogged table socket_places (
      token_id bigint not null,
      gateway text not null,
      places bigint not null,
      primary key (token_id, gateway)
    )`.execute(db);
};
