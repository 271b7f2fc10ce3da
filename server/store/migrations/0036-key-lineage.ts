import { type Kysely, sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Prepares the tables for keys that work only while their creators work, and for things that belong to a key. A key that
 * works although a key above it is deleted, disabled or expired moves to the nearest working key above it, or to none. A
 * disabled or expired key moves only from deleted keys.
 */
export const migration: Migration = async (db) => {
  await sql`create index tokens_maker on tokens (maker_id) where maker_id is not null`.execute(db);
  for (const table of ['assets', 'voices', 'verification_sessions'])
    await db.schema.alterTable(table).addColumn('token_id', 'bigint').execute();
  await moveKeys(db, Date.now());
};

async function moveKeys(db: Kysely<unknown>, now: number): Promise<void> {
  const isOver = (table: string) => {
    const end = sql.ref(`${table}.expired_time`);
    return sql`(${sql.ref(`${table}.deleted_at`)} is not null or ${sql.ref(`${table}.status`)} <> 1
      or (${end} <> -1 and ${end} <= ${Math.floor(now / 1000)}))`;
  };
  const mustMove = (key: string) => sql`(${sql.ref(`${key}.deleted_at`)} is null
    and (m.deleted_at is not null or (${isOver('m')} and not ${isOver(key)})))`;
  await sql`create temporary table moved_keys (id bigint primary key, maker_id bigint)`.execute(db);
  await sql`
    insert into moved_keys
    select t.id, t.maker_id from tokens t join tokens m on m.id = t.maker_id where ${mustMove('t')}`.execute(
    db,
  );
  for (let left = 1; left > 0; ) {
    const { numAffectedRows } = await sql`
      update tokens set maker_id = (select m.maker_id from tokens m where m.id = tokens.maker_id)
      where id in (select id from moved_keys)
        and exists (select 1 from tokens m where m.id = tokens.maker_id and ${mustMove('tokens')})`.execute(
      db,
    );
    left = Number(numAffectedRows ?? 0);
  }
  // Operators find the moved keys there. No user and no key made this change.
  await sql`
    insert into changes (user_id, token_id, action, subject, details, created_at)
    select 0, 0, 'upgrade', 'token ' || t.id,
      '{"created_by":{"from":' || k.maker_id || ',"to":' || coalesce(cast(t.maker_id as text), 'null') || '}}',
      cast(${now} as bigint)
    from moved_keys k join tokens t on t.id = k.id order by t.id`.execute(db);
  await sql`drop table moved_keys`.execute(db);
}
