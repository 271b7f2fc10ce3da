import { sql } from 'kysely';
import { findTokenByHash, hasAdminAccess } from '../queries/tokens.ts';
import type { Db } from '../schema.ts';
import { countRows } from '../statement.ts';
import { createToken } from './accounts.ts';

const rootUser = 1;

interface Bootstrap {
  keyHash: string;
  keyHint: string;
  /** True for a generated key, which is created only if the store has no key. */
  onlyFirst?: boolean;
  now: number;
}

interface Bootstrapped {
  created: boolean;
  /** The key was deleted. It is not created again. */
  deleted: boolean;
  /** The key exists and has no admin access. */
  lacksAdmin: boolean;
  /** Bootstrap keys of earlier starts that are still accepted. */
  earlier: { id: number; name: string }[];
}

/** Creates user 1, an admin, and an unlimited admin key of the first enabled admin, unless the key exists or was deleted. */
export async function ensureBootstrap(
  trx: Db,
  { keyHash, keyHint, onlyFirst = false, now }: Bootstrap,
): Promise<Bootstrapped> {
  // The update changes nothing. It locks the row, so that processes that start at once do this one after the other.
  await sql`
    insert into users (id, name, group_name, role, created_at) values (${rootUser}, 'root', 'default', 'admin', ${now})
    on conflict (id) do update set name = users.name`.execute(trx);
  const existing = await trx
    .selectFrom('tokens')
    .select('deleted_at')
    .where('key_hash', '=', keyHash)
    .executeTakeFirst();
  const { rows: keys } = await sql`select 1 from tokens where deleted_at is null limit 1`.execute(trx);
  const created = existing === undefined && !(onlyFirst && keys.length > 0);
  // `root` can have lost the role of an admin to another user.
  const { rows: admins } = await sql<{ id: number }>`
    select id from users where role = 'admin' and disabled_at is null order by id limit 1`.execute(trx);
  if (created)
    await createToken(trx, {
      userId: admins[0]?.id ?? rootUser,
      name: await nextName(trx),
      keyHash,
      keyHint,
      unlimitedQuota: true,
      adminScope: true,
      isBootstrap: true,
      now,
    });
  const key = await findTokenByHash(trx, keyHash);
  const valid = await validKeys(trx, now);
  // Without a configured key, the newest one is the current key.
  const current = onlyFirst ? valid.at(-1)?.id : key?.id;
  return {
    created,
    deleted: existing !== undefined && existing.deleted_at !== null,
    lacksAdmin: key !== undefined && !hasAdminAccess(key),
    earlier: valid.filter(({ id }) => id !== current),
  };
}

/** `bootstrap`, then `bootstrap-2` and so on. Deleted keys count, so that names in the log are unique. */
async function nextName(trx: Db): Promise<string> {
  const count = await countRows(trx.selectFrom('tokens').where('bootstrap', '=', 1));
  return count === 0 ? 'bootstrap' : `bootstrap-${count + 1}`;
}

/** Bootstrap keys that are accepted, the oldest first. */
async function validKeys(trx: Db, now: number): Promise<{ id: number; name: string }[]> {
  const { rows } = await sql<{ id: number; name: string }>`
    select t.id, t.name from tokens t join users u on u.id = t.user_id
    where t.bootstrap = 1 and t.deleted_at is null and t.status = 1 and u.disabled_at is null
      and (t.expired_time = -1 or t.expired_time > ${Math.floor(now / 1000)})
    order by t.id`.execute(trx);
  return rows;
}
