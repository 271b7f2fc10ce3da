import { type Selectable, sql } from 'kysely';
import type { Db, WalletGrantsTable } from '../schema.ts';
import type { Fragment } from '../statement.ts';

/** The wallet of a user. */
export interface WalletRecord {
  userId: number;
  /** Available quota, including leased quota. */
  balance: number;
  /** The part of it that no gateway leases. */
  free: number;
  /** Quota that is reserved for tasks and calls in progress and not included in `balance`. */
  reserved: number;
  used: number;
  /** Cost of finished work that the balance did not cover. */
  debt: number;
  /** Epoch milliseconds. */
  openedAt: number;
}

/** SQL of the available quota of a wallet `w`, including leased quota without the part that moved from leases to tasks. */
export const walletBalanceFragment: Fragment = {
  fragment: `w.balance + w.leased - cast(coalesce(
  (select sum(unposted) from quota_leases where wallet_id = w.user_id), 0) as bigint)`,
};

/** The same for `sql`. */
export const walletBalance = sql.raw<number>(walletBalanceFragment.fragment);

/** Finds the wallet of a user. */
export async function walletOf(db: Db, userId: number): Promise<WalletRecord | undefined> {
  const { rows } = await sql<WalletRecord>`
    select w.user_id as "userId", ${walletBalance} as balance, w.balance as free, w.used, w.debt,
      w.opened_at as "openedAt", cast((select coalesce(sum(reserved), 0) from ledger l
        where l.wallet_id = w.user_id and l.state = 'open') as bigint) as reserved
    from wallets w where w.user_id = ${userId}`.execute(db);
  return rows[0];
}

/** Reads a wallet that exists. */
export async function walletRecord(db: Db, userId: number): Promise<WalletRecord> {
  const wallet = await walletOf(db, userId);
  if (wallet === undefined) throw new Error(`user ${userId} has no wallet`);
  return wallet;
}

/** Quota that was added to a wallet or taken from it other than by work. */
export interface WalletGrant {
  id: number;
  userId: number;
  amount: number;
  kind: 'given' | 'taken_over';
  /** Null: the quota of the keys was taken over when the wallet was opened. */
  reference: string | null;
  reason: string | null;
  /** Part of the amount that settled a debt. */
  debtSettled: number;
  /** Available quota and debt after it. */
  balance: number;
  debt: number;
  /** Epoch milliseconds. */
  createdAt: number;
}

export const walletGrant = (row: Selectable<WalletGrantsTable>): WalletGrant => ({
  id: row.id,
  userId: row.user_id,
  amount: row.amount,
  kind: row.kind,
  reference: row.reference,
  reason: row.reason,
  debtSettled: row.debt_settled,
  balance: row.balance_after,
  debt: row.debt_after,
  createdAt: row.created_at,
});

/** Returns grants to a wallet, the newest first. `before`: only those with a lower id. */
export async function listWalletGrants(
  db: Db,
  { userId, before, limit }: { userId: number; before: number | undefined; limit: number },
): Promise<WalletGrant[]> {
  const rows = await db
    .selectFrom('wallet_grants')
    .selectAll()
    .where('user_id', '=', userId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(walletGrant);
}
