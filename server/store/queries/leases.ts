import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../schema.ts';
import { type Fragment, statement } from '../statement.ts';
import { walletBalance } from './wallets.ts';

const outdated = statement<{ gateway: string }, { id: string }>()`
  select q.id from quota_leases q join tokens t on t.id = q.token_id
  where q.gateway = ${'gateway'} and q.draining = 0 and q.epoch < t.lease_epoch`;

/** Finds the recalled leases of a gateway. */
export async function findRecalledLeases(db: Db, gateway: string): Promise<string[]> {
  const { rows } = await outdated(db, { gateway });
  return rows.map(({ id }) => id);
}

/** SQL of the quota that moved from a key's leases to tasks and is still in its `leased_quota`. `tokens`: name of the table in the query. */
export function unpostedOf(tokens: string): RawBuilder<number> {
  return sql.raw(unposted(tokens));
}

const unposted = (tokens: string) =>
  `coalesce((select sum(unposted) from quota_leases where token_id = ${tokens}.id), 0)`;

/** SQL of the available quota of a key, including leased quota. */
export function leftOf(tokens: string): RawBuilder<number> {
  return sql.raw(leftFragment(tokens).fragment);
}

/** The same for `statement`. */
export function leftFragment(tokens: string): Fragment {
  return { fragment: `(${tokens}.remain_quota + ${tokens}.leased_quota - ${unposted(tokens)})` };
}

/** Where a balance is: that of a key or of a wallet. */
export interface Lent {
  /** The part that no gateway leases. */
  remain: number;
  /** Quota that gateways lease. */
  leased: number;
  /** Number of leases that can still return quota: of a key those of other gateways, of a wallet all. */
  unanswered: number;
}

export interface LentQuota {
  /** The balance or the limit of the key; undefined: it has no limit. */
  key: Lent | undefined;
  /** Undefined: no wallet pays for it. */
  wallet: (Lent & { userId: number }) | undefined;
  /** Whether the key is of a sub-account, which does not see the wallet. */
  isOfSubAccount: boolean;
  isSession: boolean;
}

/** Reads where the quota of a key is. Undefined when the key does not exist. */
export async function findLent(db: Db, tokenId: number, gateway: string): Promise<LentQuota | undefined> {
  const { rows } = await sql<
    Lent & { unlimited: 0 | 1; session: 0 | 1; walletId: number | null; userId: number }
  >`
    select t.remain_quota as remain, t.leased_quota - ${unpostedOf('t')} as leased, t.unlimited_quota as unlimited,
      t.session, t.wallet_id as "walletId", t.user_id as "userId",
      (select count(*) from quota_leases q join gateways g on g.id = q.gateway
        where q.token_id = t.id and q.draining = 0 and q.gateway <> ${gateway}) as unanswered
    from tokens t where t.id = ${tokenId}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { unlimited, session, walletId, userId, ...key } = row;
  return {
    key: unlimited === 1 && walletId !== null ? undefined : key,
    wallet: walletId === null ? undefined : await findLentOfWallet(db, walletId),
    isOfSubAccount: walletId !== null && walletId !== userId,
    isSession: session === 1,
  };
}

/** Reads where the quota of a wallet is. Undefined when the user has none. */
export async function findLentOfWallet(
  db: Db,
  userId: number,
): Promise<(Lent & { userId: number }) | undefined> {
  const { rows } = await sql<Lent & { userId: number }>`
    select w.user_id as "userId", w.balance as remain, ${walletBalance} - w.balance as leased,
      (select count(*) from quota_leases q join gateways g on g.id = q.gateway
        where q.wallet_id = w.user_id and q.draining = 0) as unanswered
    from wallets w where w.user_id = ${userId}`.execute(db);
  return rows[0];
}
