import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Makes admin access and the right to create keys properties of a key. Keys of admins without any limit keep admin
 * access. Every other key loses it.
 */
export const migration: Migration = async (db, { engine }) => {
  const flags = [
    ['admin', 0],
    ['create_keys', 1],
    ['bootstrap', 0],
  ] as const;
  for (const [name, value] of flags)
    await db.schema
      .alterTable('tokens')
      .addColumn(name, 'integer', (column) => column.notNull().defaultTo(value))
      .execute();
  await sql`
    update tokens set admin = 1
    where user_id in (select id from users where role = 'admin')
      and unlimited_quota = 1 and model_limits is null and expired_time = -1 and allowance_id is null
      and coalesce(requests_per_minute, 0) = 0 and coalesce(sockets, 0) = 0`.execute(db);
  // A key that an admin created for a user also has no maker, but it has an entry in `changes`.
  await sql`
    update tokens set bootstrap = 1
    where user_id = 1 and name = 'bootstrap' and maker_id is null and unlimited_quota = 1
      and not exists (
        select 1 from changes where action = 'createUserToken' and subject = 'token ' || tokens.id
      )`.execute(db);
  if (engine === 'sqlite') return;
  for (const statement of announcement) await sql.raw(statement).execute(db);
};

/** The columns whose changes are announced as changes of the key, for all versions of the gateway. */
const announced = [
  'status',
  'deleted_at',
  'name',
  'group_name',
  'unlimited_quota',
  'expired_time',
  'model_limits',
  'allow_ips',
  'requests_per_minute',
  'sockets',
  'admin',
  'create_keys',
];

const differs = (columns: readonly string[]) =>
  `(${columns.map((name) => `old.${name}`).join(', ')}) is distinct from (${columns.map((name) => `new.${name}`).join(', ')})`;

const announcement = [
  `create or replace function announce_token() returns trigger language plpgsql as $$
  begin
    perform pg_notify('unigate_' || md5(tg_table_schema),
      case when ${differs(announced)} then 'token ' else 'lease ' end || new.id);
    return null;
  end $$`,
  'drop trigger if exists tokens_announced on tokens',
  `create trigger tokens_announced after update of ${[...announced, 'lease_epoch'].join(', ')} on tokens
  for each row when (${differs([...announced, 'lease_epoch'])}) execute function announce_token()`,
];
