import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db, { autoId }) => {
  await db.schema
    .alterTable('users')
    .addColumn('role', 'text', (col) => col.notNull().defaultTo('user'))
    .execute();
  await sql`update users set role = 'admin' where id = 1`.execute(db);

  await db.schema.alterTable('tokens').addColumn('allow_ips', 'text').execute();
  await db.schema.alterTable('tokens').addColumn('maker_id', 'bigint').execute();
  await db.schema.alterTable('tokens').addColumn('funder_id', 'bigint').execute();
  await db.schema.alterTable('tokens').addColumn('deleted_at', 'bigint').execute();
  await db.schema.dropIndex('tokens_user').execute();
  await sql`create index tokens_user on tokens (user_id, id) where deleted_at is null`.execute(db);
  // What a deleted key still has, or gets back from work that ends later, goes to the one that it came from.
  await sql`create index tokens_left on tokens (id)
    where deleted_at is not null and funder_id is not null and remain_quota > 0`.execute(db);

  await db.schema
    .createTable('grants')
    .addColumn('id', autoId.type, autoId.build)
    .addColumn('token_id', 'bigint', (col) => col.notNull())
    .addColumn('amount', 'bigint', (col) => col.notNull())
    .addColumn('kind', 'text', (col) => col.notNull())
    .addColumn('other_id', 'bigint')
    .addColumn('created_at', 'bigint', (col) => col.notNull())
    .addCheckConstraint('grants_kind', sql`kind in ('opening', 'given', 'moved')`)
    .execute();
  await db.schema.createIndex('grants_token').on('grants').column('token_id').execute();
  // Nobody wrote down so far what a key was given: all that it has, holds and has spent.
  await sql`
    insert into grants (token_id, amount, kind, created_at)
    select t.id, t.remain_quota + coalesce((
        select sum(case state when 'open' then reserved when 'settled' then charged else 0 end)
        from ledger where ledger.token_id = t.id and unlimited = 0), 0),
      'opening', t.created_time * 1000
    from tokens t`.execute(db);
};
