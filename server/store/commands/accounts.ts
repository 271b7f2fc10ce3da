import { sql } from 'kysely';
import { findTokenByHash, type TokenRecord } from '../queries/tokens.ts';
import type { Command } from './command.ts';

const rootUser = 1;

export const createUser: Command<{ name: string; group: string; now: number }, { id: number }> = (
  trx,
  user,
) =>
  trx
    .insertInto('users')
    .values({ name: user.name, group_name: user.group, created_at: user.now })
    .returning('id')
    .executeTakeFirstOrThrow();

export interface NewToken {
  userId: number;
  name: string;
  keyHash: string;
  keyHint: string;
  /** Default: the user's group. */
  group?: string | null;
  unlimitedQuota?: boolean;
  /** Default 0. */
  remainQuota?: number;
  /** Unix seconds; default -1, never. */
  expiredTime?: number;
  /** Model patterns; default null, every model of the group. */
  modelLimits?: string[] | null;
  now: number;
}

/** Fails when the user does not exist or the hash is there already. */
export const createToken: Command<NewToken, TokenRecord> = async (trx, token) => {
  await trx
    .insertInto('tokens')
    .values({
      user_id: token.userId,
      name: token.name,
      key_hash: token.keyHash,
      key_hint: token.keyHint,
      group_name: token.group ?? null,
      status: 1,
      unlimited_quota: token.unlimitedQuota ? 1 : 0,
      remain_quota: token.remainQuota ?? 0,
      used_quota: 0,
      expired_time: token.expiredTime ?? -1,
      model_limits: token.modelLimits ? JSON.stringify(token.modelLimits) : null,
      created_time: Math.floor(token.now / 1000),
    })
    .execute();
  const record = await findTokenByHash(trx, token.keyHash);
  if (record === undefined) throw new Error('the token vanished while it was made');
  return record;
};

/** False when the user has no such token. Disabling twice is not an error. */
export const disableToken: Command<{ id: number; userId: number }, boolean> = async (trx, { id, userId }) => {
  const { numUpdatedRows } = await trx
    .updateTable('tokens')
    .set({ status: 2 })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
};

export interface Bootstrap {
  keyHash: string;
  keyHint: string;
  /** True for a generated key: nothing is made when any key exists. */
  onlyFirst?: boolean;
  now: number;
}

/** Makes user 1 (`root`, group `default`) and gives it an unlimited key, unless that key is there already. */
export const ensureBootstrap: Command<Bootstrap, { created: boolean; anyKeyExisted: boolean }> = async (
  trx,
  { keyHash, keyHint, onlyFirst, now },
) => {
  // The do-nothing update locks the row, so that two processes starting at once agree on what is there.
  await sql`
    insert into users (id, name, group_name, created_at) values (${rootUser}, 'root', 'default', ${now})
    on conflict (id) do update set name = users.name`.execute(trx);
  const existing = await trx
    .selectFrom('tokens')
    .select('key_hash')
    .where('key_hash', '=', keyHash)
    .execute();
  const any = await trx.selectFrom('tokens').select('id').limit(1).execute();
  const anyKeyExisted = any.length > 0;
  if (existing.length > 0 || (onlyFirst && anyKeyExisted)) return { created: false, anyKeyExisted };
  await createToken(trx, {
    userId: rootUser,
    name: 'bootstrap',
    keyHash,
    keyHint,
    unlimitedQuota: true,
    now,
  });
  return { created: true, anyKeyExisted };
};
