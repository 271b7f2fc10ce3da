import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Whoever changes what a key may do, or recalls its leases, has all listening gateways told of it with the commit, whichever
 * version it is. What changes with each call, such as a balance, fires nothing.
 */
export const migration: Migration = async (db, { engine }) => {
  if (engine === 'sqlite') return;
  for (const statement of statements) await sql.raw(statement).execute(db);
};

/** What a gateway keeps of a key. */
const ofToken = [
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
];
const ofUser = ['group_name', 'role', 'disabled_at'];

const differs = (columns: readonly string[]) =>
  `(${columns.map((name) => `old.${name}`).join(', ')}) is distinct from (${columns.map((name) => `new.${name}`).join(', ')})`;

const statements = [
  `create function announce_token() returns trigger language plpgsql as $$
  begin
    perform pg_notify('unigate_' || md5(tg_table_schema),
      case when ${differs(ofToken)} then 'token ' else 'lease ' end || new.id);
    return null;
  end $$`,
  `create trigger tokens_announced after update of ${[...ofToken, 'lease_epoch'].join(', ')} on tokens
  for each row when (${differs([...ofToken, 'lease_epoch'])}) execute function announce_token()`,
  `create function announce_user() returns trigger language plpgsql as $$
  begin
    perform pg_notify('unigate_' || md5(tg_table_schema), 'user ' || new.id);
    return null;
  end $$`,
  `create trigger users_announced after update of ${ofUser.join(', ')} on users
  for each row when (${differs(ofUser)}) execute function announce_user()`,
];
