import { sql } from 'kysely';
import {
  type WalletGrant,
  type WalletRecord,
  walletGrant,
  walletOf,
  walletRecord,
} from '../queries/wallets.ts';
import type { Db } from '../schema.ts';
import { execute, isPostgres } from '../statement.ts';
import { type Intent, recordChange } from './changes.ts';
import { mostQuota } from './grants.ts';
import { lockWallets } from './wallet-moves.ts';

/** How long opening a wallet waits for a table, so that it delays no other work for longer (ms). */
const lockTimeoutMs = 1_000;

type OpenWalletResult =
  | { outcome: 'opened' | 'existed'; wallet: WalletRecord }
  | { outcome: 'not_found' }
  /** The wallet of the parent pays for the user. */
  | { outcome: 'sub_account'; parentId: number }
  /** The keys of the user have more than `mostQuota` together, or cannot pay a first grant below zero. */
  | { outcome: 'out_of_range'; quota: number };

/**
 * Opens the wallet of a user, which takes over the quota, the leases, the open reservations and the debts of all keys of the user. It has
 * no sub-accounts yet, since these need the wallet. The balances of its limited keys become their limits. Nothing is changed if a first grant is refused.
 */
export async function openWallet(
  trx: Db,
  { userId, change, firstGrant = 0 }: { userId: number; change: Intent; firstGrant?: number },
): Promise<OpenWalletResult> {
  const existing = await walletOf(trx, userId);
  if (existing !== undefined) return { outcome: 'existed', wallet: existing };
  const { rows: users } = await sql<{ parent: number | null }>`
    select parent_id as parent from users where id = ${userId}`.execute(trx);
  const [user] = users;
  if (user === undefined) return { outcome: 'not_found' };
  if (user.parent !== null) return { outcome: 'sub_account', parentId: user.parent };
  await lockQuota(trx);
  const opened = await walletOf(trx, userId);
  if (opened !== undefined) return { outcome: 'existed', wallet: opened };
  const taken = await quotaOfKeys(trx, userId);
  const quota = taken.balance + taken.leased + taken.held;
  if (quota > mostQuota) return { outcome: 'out_of_range', quota };
  const settled = Math.min(taken.balance, taken.debt);
  const free = taken.balance - settled;
  const debt = taken.debt - settled;
  if (isOutOfRange(free, debt, firstGrant)) return { outcome: 'out_of_range', quota: free };
  await sql`update ledger set wallet_id = ${userId} where user_id = ${userId} and unlimited = 0`.execute(trx);
  await sql`update quota_leases set wallet_id = ${userId}
    where token_id in (select id from tokens where user_id = ${userId})`.execute(trx);
  await moveDebts(trx, userId, change.now);
  // The wallet limits session keys from now on.
  await sql`
    update tokens set wallet_id = ${userId}, unlimited_quota = case when session = 1 then 1 else unlimited_quota end
    where user_id = ${userId}`.execute(trx);
  await trx
    .insertInto('wallets')
    .values({
      user_id: userId,
      balance: free,
      leased: taken.leased + taken.unposted,
      debt,
      used: settled,
      debt_taken_over: taken.debt,
      opened_at: change.now,
    })
    .execute();
  await trx
    .insertInto('wallet_grants')
    .values({
      user_id: userId,
      amount: quota,
      kind: 'taken_over',
      given_by: change.userId,
      reference: null,
      reason: null,
      debt_settled: settled,
      balance_after: taken.balance + taken.leased - settled,
      debt_after: debt,
      created_at: change.now,
    })
    .execute();
  const details = { quota, debt: taken.debt };
  await recordChange(trx, { ...change, action: 'openWallet', subject: `user ${userId}`, details });
  return { outcome: 'opened', wallet: await walletRecord(trx, userId) };
}

/** Blocks every change of quota until the end of the transaction. Rows of other transactions are all before or all after it. */
async function lockQuota(trx: Db): Promise<void> {
  if (!isPostgres(trx)) return;
  await sql.raw(`set local lock_timeout = ${lockTimeoutMs}`).execute(trx);
  await sql`lock table quota_leases, ledger, tokens in share row exclusive mode`.execute(trx);
}

/** The quota that a wallet takes over, by where it is, and the debt. `leased` is without `unposted`. */
type TakenOver = Record<'balance' | 'leased' | 'unposted' | 'held' | 'debt', number>;

async function quotaOfKeys(trx: Db, userId: number): Promise<TakenOver> {
  const keys = sql`select id from tokens where user_id = ${userId}`;
  // The rest of a deleted key returns to its funder, if it has one.
  const isCounted = sql`unlimited_quota = 0 and (deleted_at is null or funder_id is not null)`;
  const { rows } = await sql<TakenOver>`
    select cast(coalesce(sum(case when ${isCounted} then remain_quota end), 0) as bigint) as balance,
      cast(coalesce(sum(debt), 0) as bigint) as debt,
      cast((select coalesce(sum(remaining), 0) from quota_leases where token_id in (${keys})) as bigint) as leased,
      cast((select coalesce(sum(unposted), 0) from quota_leases where token_id in (${keys})) as bigint) as unposted,
      cast((select coalesce(sum(reserved), 0) from ledger
        where user_id = ${userId} and state = 'open' and unlimited = 0) as bigint) as held
    from tokens where user_id = ${userId}`.execute(trx);
  const [taken] = rows;
  if (taken === undefined) throw new Error('the sum of the quota has no row');
  return taken;
}

/** Settles the debts of the keys of a user, since the wallet has them now. */
async function moveDebts(trx: Db, userId: number, now: number): Promise<void> {
  await sql`
    insert into grants (token_id, amount, kind, debt_settled, created_at)
    select id, debt, 'debt_moved', debt, cast(${now} as bigint) from tokens where user_id = ${userId} and debt > 0`.execute(
    trx,
  );
  await sql`
    update tokens set used_quota = used_quota + debt, debt = 0 where user_id = ${userId} and debt > 0`.execute(
    trx,
  );
}

interface NewWalletGrant {
  userId: number;
  /** Below zero: taken from the wallet. */
  amount: number;
  reason: string;
  /** Id of the payment. A grant to a user is applied once for it. */
  reference: string;
  change: Intent;
}

type WalletGrantResult =
  | { outcome: 'granted'; grant: WalletGrant }
  | { outcome: 'not_found' }
  | { outcome: 'sub_account'; parentId: number }
  /** The reference belongs to a grant of another amount. */
  | { outcome: 'reused'; grant: WalletGrant }
  /** Nothing is changed: the wallet has too little quota, or would have more than `mostQuota`. */
  | { outcome: 'out_of_range'; left: number };

/**
 * Adds quota to the wallet of a user or takes quota from it, once for a reference. Opens the wallet if there is none. Added quota
 * first settles the debt.
 */
export async function grantToWallet(trx: Db, order: NewWalletGrant): Promise<WalletGrantResult> {
  const { userId, amount, reason, reference, change } = order;
  const repeated = await repeatedGrant(trx, order);
  if (repeated !== undefined) return repeated;
  const opened = await openWallet(trx, { userId, change, firstGrant: amount });
  if (opened.outcome === 'not_found' || opened.outcome === 'sub_account') return opened;
  if (opened.outcome === 'out_of_range') return { outcome: 'out_of_range', left: opened.quota };
  // Before the wallet is locked, since it detects a concurrent request with the same reference.
  const inserted = await trx
    .insertInto('wallet_grants')
    .values({
      user_id: userId,
      amount,
      kind: 'given',
      given_by: change.userId,
      reference,
      reason,
      debt_settled: 0,
      balance_after: 0,
      debt_after: 0,
      created_at: change.now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) {
    const concurrent = await repeatedGrant(trx, order);
    if (concurrent === undefined) throw new Error('the conflicting grant does not exist');
    return concurrent;
  }
  await lockWallets(trx, [userId]);
  const before = await walletRecord(trx, userId);
  const debtSettled = debtSettledBy(amount, before.debt);
  const gained = amount - debtSettled;
  if (isOutOfRange(before.free, before.debt, amount)) {
    await trx.deleteFrom('wallet_grants').where('id', '=', inserted.id).execute();
    return { outcome: 'out_of_range', left: before.balance };
  }
  const update = sql`
    update wallets set balance = balance + ${gained}, used = used + ${debtSettled}, debt = debt - ${debtSettled}
    where user_id = ${userId}`;
  await execute(trx, update, {});
  const [balance, debt] = [before.balance + gained, before.debt - debtSettled];
  const row = await trx
    .updateTable('wallet_grants')
    .set({ debt_settled: debtSettled, balance_after: balance, debt_after: debt })
    .where('id', '=', inserted.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const details = {
    amount,
    reference,
    reason,
    balance,
    ...(debtSettled > 0 && { debt_settled: debtSettled, debt }),
  };
  await recordChange(trx, { ...change, subject: `user ${userId}`, details });
  return { outcome: 'granted', grant: walletGrant(row) };
}

/** Part of a grant that settles a debt. */
const debtSettledBy = (amount: number, debt: number) => Math.max(0, Math.min(debt, amount));

/** Whether a wallet would have less than 0 or, by a positive grant, more than `mostQuota`. `free`: its quota that no gateway leases. */
function isOutOfRange(free: number, debt: number, amount: number): boolean {
  const after = free + amount - debtSettledBy(amount, debt);
  return after < 0 || (amount > 0 && after > mostQuota);
}

/** Returns the result of an earlier request with the same reference. Undefined without one. */
async function repeatedGrant(
  trx: Db,
  { userId, amount, reference }: NewWalletGrant,
): Promise<WalletGrantResult | undefined> {
  const row = await trx
    .selectFrom('wallet_grants')
    .selectAll()
    .where('user_id', '=', userId)
    .where('reference', '=', reference)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { outcome: row.amount === amount ? 'granted' : 'reused', grant: walletGrant(row) };
}
