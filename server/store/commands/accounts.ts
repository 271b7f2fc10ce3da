import type { Kysely } from 'kysely';
import { findTokenByHash, type TokenRecord } from '../queries/tokens.ts';
import type { Database } from '../schema.ts';
import { type Creation, recordChange } from './changes.ts';
import type { Command } from './command.ts';

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
  modelLimits?: readonly string[] | null;
  /** Addresses and ranges; default null, from everywhere. */
  allowIps?: readonly string[] | null;
  /** The key that it is made with; default null. */
  makerId?: number | null;
  /** Has the scope `admin`; default false. */
  adminScope?: boolean;
  /** Default true. */
  canCreateKeys?: boolean;
  /** The gateway creates it at a start; default false. */
  isBootstrap?: boolean;
  /** The key whose allowance of requests and sockets it shares; default null, none. */
  allowanceId?: number | null;
  /** Of its own, 0: no limit; default null, as the key that it shares with, else as configured. */
  requestsPerMinute?: number | null;
  sockets?: number | null;
  now: number;
}

/**
 * Makes a key with quota from nowhere; `change` when an admin does it. Fails when the user does not exist or the hash is
 * there already.
 */
export const createToken: Command<NewToken & { change?: Creation }, TokenRecord> = async (
  trx,
  { change, ...token },
) => {
  const { remainQuota: amount = 0, now } = token;
  const { id } = await insertToken(trx, token);
  if (amount > 0)
    await trx
      .insertInto('grants')
      .values({ ...grant(id, amount, now), given_by: change?.userId ?? null })
      .execute();
  if (change !== undefined) await recordChange(trx, { ...change, subject: `token ${id}` });
  return madeToken(trx, token);
};

export const grant = (tokenId: number, amount: number, now: number, otherId: number | null = null) => ({
  token_id: tokenId,
  amount,
  kind: otherId === null ? ('given' as const) : ('moved' as const),
  other_id: otherId,
  created_at: now,
});

/** `funderId` is the key that its quota was taken from. */
export function insertToken(
  trx: Kysely<Database>,
  token: NewToken,
  funderId: number | null = null,
): Promise<{ id: number }> {
  return trx
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
      allow_ips: token.allowIps ? JSON.stringify(token.allowIps) : null,
      maker_id: token.makerId ?? null,
      admin: token.adminScope === true ? 1 : 0,
      create_keys: token.canCreateKeys === false ? 0 : 1,
      bootstrap: token.isBootstrap === true ? 1 : 0,
      allowance_id: token.allowanceId ?? null,
      requests_per_minute: token.requestsPerMinute ?? null,
      sockets: token.sockets ?? null,
      funder_id: funderId,
      created_time: Math.floor(token.now / 1000),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
}

export async function madeToken(trx: Kysely<Database>, token: NewToken): Promise<TokenRecord> {
  const record = await findTokenByHash(trx, token.keyHash);
  if (record === undefined) throw new Error('the token vanished while it was made');
  return record;
}
