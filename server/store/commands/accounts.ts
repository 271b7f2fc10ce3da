import { sql } from 'kysely';
import { snakeCased } from '../columns.ts';
import { findTokenByHash, type TokenRecord, type TokenSettings } from '../queries/tokens.ts';
import { payersOfUser } from '../queries/users.ts';
import type { Db, MemberRole } from '../schema.ts';
import { type Creation, recordChange } from './changes.ts';
import { lockUser } from './user-lock.ts';

/** A new key. Defaults: no quota, scope, creator or own limits, never expires, every model, and can create keys. */
export interface NewToken extends Partial<Omit<TokenSettings, 'name' | 'status'>> {
  userId: number;
  name: string;
  keyHash: string;
  keyHint: string;
  /** Default: the user's group. */
  group?: string | null;
  /** Default 0. */
  remainQuota?: number;
  /** The key that creates it. */
  makerId?: number | null;
  /** Marks the key of a gateway's start; default false. */
  isBootstrap?: boolean;
  /** The key whose limits of requests and sockets it shares. */
  allowanceId?: number | null;
  /** The member who gets the key, and the member's role. */
  memberId?: number | null;
  memberRole?: MemberRole | null;
  /** Marks the session key of the user or member; default false. */
  isSession?: boolean;
  now: number;
}

/** Creates a key with new quota. `change`: an admin creates it. Fails when the user does not exist or the hash exists already. */
export async function createToken(
  trx: Db,
  { change, ...token }: NewToken & { change?: Creation },
): Promise<TokenRecord> {
  const { remainQuota: amount = 0, now } = token;
  await lockUser(trx, token.userId, 'shared');
  const { id } = await insertToken(trx, token);
  if (amount > 0)
    await trx
      .insertInto('grants')
      .values({ ...grant(id, amount, now), given_by: change?.userId ?? null })
      .execute();
  if (change !== undefined) await recordChange(trx, { ...change, subject: `token ${id}` });
  return insertedToken(trx, token);
}

/** Row of a grant. `otherId`: the other key, if the quota is moved between keys. */
export const grant = (tokenId: number, amount: number, now: number, otherId: number | null = null) => ({
  token_id: tokenId,
  amount,
  kind: otherId === null ? ('given' as const) : ('moved' as const),
  other_id: otherId,
  created_at: now,
});

/** `funderId`: the key from which its quota was taken. The user must be locked, so that a new budget includes the key. */
export function insertToken(
  trx: Db,
  token: NewToken,
  funderId: number | null = null,
): Promise<{ id: number }> {
  const { userId, name, keyHash, keyHint, makerId, allowanceId, requestsPerMinute, sockets } = token;
  const copied = { userId, name, keyHash, keyHint, makerId, allowanceId, requestsPerMinute, sockets };
  return trx
    .insertInto('tokens')
    .values({
      ...snakeCased(copied),
      group_name: token.group ?? null,
      status: 1,
      unlimited_quota: token.unlimitedQuota ? 1 : 0,
      wallet_id: sql<
        number | null
      >`(select w.user_id from users u join wallets w on w.user_id = coalesce(u.parent_id, u.id)
        where u.id = ${userId})`,
      budgeted: sql<number>`coalesce((select max(b.id) from (
        select id from budgets where user_id in ${payersOfUser(userId)} and token_id is null
        union all select budgeted from tokens where id = ${makerId ?? null}) as b), 0)`,
      remain_quota: token.remainQuota ?? 0,
      used_quota: 0,
      expired_time: token.expiredTime ?? -1,
      model_limits: token.modelLimits ? JSON.stringify(token.modelLimits) : null,
      allow_ips: token.allowIps ? JSON.stringify(token.allowIps) : null,
      admin: token.adminScope === true ? 1 : 0,
      create_keys: token.canCreateKeys === false ? 0 : 1,
      bootstrap: token.isBootstrap === true ? 1 : 0,
      funder_id: funderId,
      member_id: token.memberId ?? null,
      member_role: token.memberRole ?? null,
      session: token.isSession === true ? 1 : 0,
      created_time: Math.floor(token.now / 1000),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
}

/** Reads a key that this transaction inserted. */
export async function insertedToken(trx: Db, { keyHash }: Pick<NewToken, 'keyHash'>): Promise<TokenRecord> {
  const record = await findTokenByHash(trx, keyHash);
  if (record === undefined) throw new Error('the inserted key does not exist');
  return record;
}
