import { type Kysely, sql } from 'kysely';
import { findTokenByHash, hasAdminAccess } from '../queries/tokens.ts';
import type { Database } from '../schema.ts';
import { createToken } from './accounts.ts';
import type { Command } from './command.ts';

const rootUser = 1;

export interface Bootstrap {
  keyHash: string;
  keyHint: string;
  /** True for a generated key, which is created only if the store has no key. */
  onlyFirst?: boolean;
  now: number;
}

export interface Bootstrapped {
  created: boolean;
  /** The key was deleted. It is not created again. */
  deleted: boolean;
  /** The key exists and has no admin access. */
  lacksAdmin: boolean;
  /** Bootstrap keys of earlier starts that are still accepted. */
  earlier: BootstrapKey[];
}

export interface BootstrapKey {
  id: number;
  name: string;
}

/**
 * Creates user 1 (`root`, group `default`, an admin), and the bootstrap key unless it exists or was deleted. The key is an
 * unlimited admin key of the first enabled admin. Earlier bootstrap keys stay valid, since gateways that share a
 * database can be restarted one after the other.
 */
export const ensureBootstrap: Command<Bootstrap, Bootstrapped> = async (
  trx,
  { keyHash, keyHint, onlyFirst = false, now },
) => {
  // The update changes nothing. It locks the row, so that two processes that start at once agree on what exists.
  await sql`
    insert into users (id, name, group_name, role, created_at) values (${rootUser}, 'root', 'default', 'admin', ${now})
    on conflict (id) do update set name = users.name`.execute(trx);
  const existing = await trx
    .selectFrom('tokens')
    .select('deleted_at')
    .where('key_hash', '=', keyHash)
    .executeTakeFirst();
  const created = existing === undefined && !(onlyFirst && (await hasAnyKey(trx)));
  if (created)
    await createToken(trx, {
      userId: await firstAdmin(trx),
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
  // Without a given key, the newest one counts as the current key.
  const current = onlyFirst ? valid.at(-1)?.id : key?.id;
  return {
    created,
    deleted: existing !== undefined && existing.deleted_at !== null,
    lacksAdmin: key !== undefined && !hasAdminAccess(key),
    earlier: valid.filter(({ id }) => id !== current),
  };
};

async function hasAnyKey(trx: Kysely<Database>): Promise<boolean> {
  const query = trx.selectFrom('tokens').select('id').where('deleted_at', 'is', null);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/** The first admin who is not disabled: `root` can have lost the role to another one. */
async function firstAdmin(trx: Kysely<Database>): Promise<number> {
  const admin = await trx
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('disabled_at', 'is', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return admin?.id ?? rootUser;
}

/** `bootstrap`, then `bootstrap-2` and so on. Deleted keys count, so that no two keys have one name in the log. */
async function nextName(trx: Kysely<Database>): Promise<string> {
  const { made } = await trx
    .selectFrom('tokens')
    .select(sql<number>`count(*)`.as('made'))
    .where('bootstrap', '=', 1)
    .executeTakeFirstOrThrow();
  return made === 0 ? 'bootstrap' : `bootstrap-${made + 1}`;
}

/** Bootstrap keys that are accepted, the oldest first. */
function validKeys(trx: Kysely<Database>, now: number): Promise<BootstrapKey[]> {
  return trx
    .selectFrom('tokens as t')
    .innerJoin('users as u', 'u.id', 't.user_id')
    .select(['t.id', 't.name'])
    .where('t.bootstrap', '=', 1)
    .where('t.deleted_at', 'is', null)
    .where('t.status', '=', 1)
    .where('u.disabled_at', 'is', null)
    .where((column) =>
      column.or([column('t.expired_time', '=', -1), column('t.expired_time', '>', Math.floor(now / 1000))]),
    )
    .orderBy('t.id')
    .execute();
}
