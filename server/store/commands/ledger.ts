import { type Selectable, sql } from 'kysely';
import type { Db, LedgerTable, ReservationKind } from '../schema.ts';
import { isPostgres, statement } from '../statement.ts';
import { type BudgetedKey, chargeBudgets, takeFromBudgets } from './budget-moves.ts';
import { correctEntries, type LogEntry, writeEntries } from './log-entries.ts';
import type { QuotaReturns } from './quota-returns.ts';
import { lockWallets, moveInWallet, takeFromWallet } from './wallet-moves.ts';

type LedgerRow = Selectable<LedgerTable>;

type Reservation = {
  requestId: string;
  tokenId: number;
  userId: number;
  model: string;
  unit: string;
  amount: number;
  kind: ReservationKind;
  /** The gateway that serves the request; null for tasks. */
  gateway: string | null;
  now: number;
};

/** `over_budget`: a hard budget does not cover it. */
export type ReserveResult = 'reserved' | 'insufficient_quota' | 'over_budget' | 'duplicate' | 'key_revoked';

const open = statement<Reservation, Pick<LedgerRow, 'unlimited' | 'wallet_id' | 'budgeted'>>()`
  insert into ledger (request_id, token_id, user_id, model, unit, reserved, unlimited, wallet_id, budgeted, state, kind,
    gateway, opened_at)
  select ${'requestId'}, ${'tokenId'}, ${'userId'}, ${'model'}, ${'unit'}, ${'amount'}, unlimited_quota, wallet_id,
    budgeted, 'open', ${'kind'}, ${'gateway'}, ${'now'}
  from tokens where id = ${'tokenId'} and (unlimited_quota = 1 or remain_quota >= ${'amount'} or ${'amount'} = 0)
    and deleted_at is null and status = 1
  on conflict (request_id) do nothing
  returning unlimited, wallet_id, budgeted`;

const exists = statement<{ requestId: string }>()`select 1 from ledger where request_id = ${'requestId'}`;

const usable = statement<{ tokenId: number }>()`
  select 1 from tokens where id = ${'tokenId'} and deleted_at is null and status = 1`;

const takeFromKey = statement<{ tokenId: number; amount: number }>()`
  update tokens set remain_quota = remain_quota - ${'amount'} where id = ${'tokenId'} and remain_quota >= ${'amount'}`;

type Payers = Pick<LedgerRow, 'token_id' | 'user_id' | 'unlimited' | 'wallet_id' | 'budgeted'>;

const budgetedKey = ({ token_id: tokenId, user_id: userId, budgeted }: Payers): BudgetedKey => ({
  tokenId,
  userId,
  budgeted,
});

type Taken = 'taken' | 'insufficient_quota' | 'over_budget';

/** Takes an amount from the balances that a reservation takes it from, and from the budgets. Otherwise changes nothing. */
async function take(trx: Db, payers: Payers, amount: number, now: number): Promise<Taken> {
  if (amount === 0) return 'taken';
  if (!(await takeFromBalances(trx, payers, amount))) return 'insufficient_quota';
  if (await takeFromBudgets(trx, budgetedKey(payers), amount, now)) return 'taken';
  const { token_id: tokenId, unlimited, wallet_id: walletId } = payers;
  if (unlimited === 0) await adjust(trx, { tokenId, returned: amount, charged: 0, debt: 0 });
  await moveInWallet(trx, walletId, { balance: amount });
  return 'over_budget';
}

/** False: a balance has less, and nothing is changed. */
async function takeFromBalances(trx: Db, payers: Payers, amount: number): Promise<boolean> {
  const { token_id: tokenId, unlimited, wallet_id: walletId } = payers;
  if (unlimited === 0 && (await takeFromKey(trx, { tokenId, amount })).numAffectedRows !== 1n) return false;
  if (walletId === null || (await takeFromWallet(trx, walletId, amount))) return true;
  if (unlimited === 0) await adjust(trx, { tokenId, returned: amount, charged: 0, debt: 0 });
  return false;
}

const remove = statement<{ requestId: string }>()`delete from ledger where request_id = ${'requestId'}`;

/** Reserves quota of a key for a request: opens a ledger row and lowers its balance and that of the wallet, or writes nothing. */
export async function reserve(trx: Db, reservation: Reservation): Promise<ReserveResult> {
  const { requestId, tokenId, userId, amount } = reservation;
  const row = (await open(trx, reservation)).rows[0];
  if (row === undefined) {
    if ((await exists(trx, { requestId })).rows.length > 0) return 'duplicate';
    return (await usable(trx, { tokenId })).rows.length > 0 ? 'insufficient_quota' : 'key_revoked';
  }
  const taken = await take(trx, { token_id: tokenId, user_id: userId, ...row }, amount, reservation.now);
  if (taken === 'taken') return 'reserved';
  // The wallet lacks it, a budget does not cover it, or another transaction spent the balance between the two statements.
  await remove(trx, { requestId });
  return taken;
}

export type ExtendResult = 'extended' | 'insufficient_quota' | 'over_budget' | 'not_open';

type Extension = { requestId: string; from: number; to: number };
type Extended = Payers;

const raise = statement<Extension, Extended>()`
  update ledger set reserved = ${'to'}
  where request_id = ${'requestId'} and state = 'open' and reserved = ${'from'}
  returning token_id, user_id, unlimited, wallet_id, budgeted`;

const reopenRaised = statement<Extension, Extended>()`
  update ledger set state = 'open', reserved = ${'to'}, closed_at = null
  where request_id = ${'requestId'} and state = 'refunded' and gateway is not null and reserved = ${'from'}
  returning token_id, user_id, unlimited, wallet_id, budgeted`;

const restore = statement<{ requestId: string; from: number; state: string; closedAt: number | null }>()`
  update ledger set reserved = ${'from'}, state = ${'state'}, closed_at = ${'closedAt'}
  where request_id = ${'requestId'}`;

/** Raises an open reservation, or one that was refunded since its gateway was found lost. `not_open`: there is none of `from`. */
export async function extend(
  trx: Db,
  { now, ...extension }: Extension & { now: number },
): Promise<ExtendResult> {
  const { requestId, from, to } = extension;
  const raised = (await raise(trx, extension)).rows[0];
  const row = raised ?? (await reopenRaised(trx, extension)).rows[0];
  if (row === undefined) return 'not_open';
  const amount = raised === undefined ? to : to - from;
  const taken = await take(trx, row, amount, now);
  if (taken === 'taken') return 'extended';
  const before =
    raised === undefined ? { state: 'refunded', closedAt: now } : { state: 'open', closedAt: null };
  await restore(trx, { requestId, from, ...before });
  return taken;
}

type ClosedRow = Pick<
  LedgerRow,
  'token_id' | 'user_id' | 'model' | 'unit' | 'reserved' | 'unlimited' | 'wallet_id' | 'budgeted' | 'state'
>;

/** Deletes the row, so that a reservation is closed once. */
const close = statement<{ requestId: string }, ClosedRow>()`
  delete from ledger
  where request_id = ${'requestId'} and (state = 'open' or (state = 'refunded' and gateway is not null))
  returning token_id, user_id, model, unit, reserved, unlimited, wallet_id, budgeted, state`;

const adjust = statement<{ tokenId: number; returned: number; charged: number; debt: number }>()`
  update tokens set remain_quota = remain_quota + ${'returned'}, used_quota = used_quota + ${'charged'},
    debt = debt + ${'debt'}
  where id = ${'tokenId'}`;

/** Writes the log entry of a closed reservation. */
async function writeLog(
  trx: Db,
  requestId: string,
  row: ClosedRow,
  { quota, log, now }: { quota: number; log: LogEntry; now: number },
): Promise<void> {
  const { user_id: userId, token_id: tokenId, model, unit, reserved, unlimited } = row;
  const wallet = row.wallet_id === null ? 0 : 1;
  const written = await writeEntries(trx, [
    { requestId, userId, tokenId, model, unit, reserved, quota, debt: 0, unlimited, wallet, log, now },
  ]);
  if (!written.has(requestId))
    throw new Error(`the log has an entry of ${requestId}, whose reservation is open`);
}

/** The update changes nothing. It locks the row, so that the balance stays as it is read. */
const balance = statement<{ tokenId: number }, { remain_quota: number }>()`
  update tokens set used_quota = used_quota where id = ${'tokenId'} returning remain_quota`;

/** The parts of a cost: `charged` was taken, and the key or its wallet owes `debt`. */
export type Settlement = { charged: number; debt: number };

/** Settles a reservation: the balance pays a cost beyond it, and the rest becomes a debt. Undefined without such a reservation. */
export async function settle(
  trx: Db,
  { requestId, charged: cost, log, now }: { requestId: string; charged: number; log: LogEntry; now: number },
): Promise<Settlement | undefined> {
  const row = (await close(trx, { requestId })).rows[0];
  if (row === undefined) return undefined;
  const { token_id: tokenId, wallet_id: walletId } = row;
  const isLimited = row.unlimited === 0;
  const hasWallet = walletId !== null;
  const isMetered = isLimited || hasWallet;
  const reservation = isMetered && row.state === 'open' ? row.reserved : 0;
  const beyond = isMetered ? Math.max(0, cost - reservation) : 0;
  await writeLog(trx, requestId, row, { quota: cost, log, now });
  // After the log and last, since other processes wait for the key's row.
  const debt = beyond === 0 ? 0 : Math.max(0, beyond - (await lockPayer(trx, row)));
  const charged = cost - debt;
  const wallet = hasWallet ? 1 : 0;
  if (debt > 0) await correctEntries(trx, [{ requestId, quota: charged, debt, wallet }], [now]);
  const returned = reservation - charged;
  await adjust(trx, { tokenId, returned: isLimited ? returned : 0, charged, debt: hasWallet ? 0 : debt });
  await moveInWallet(trx, walletId, { balance: returned, used: charged, debt });
  // The debt is a cost of the period, too.
  const reserved = row.state === 'open' ? row.reserved : 0;
  await chargeBudgets(trx, budgetedKey(row), { reserved, charged: cost }, now);
  return { charged, debt };
}

/** Locks a key and the wallet that pays for it. Returns the balance that pays a cost beyond the reservation, at least 0. */
async function lockPayer(trx: Db, { token_id: tokenId, wallet_id: walletId }: Payers): Promise<number> {
  const { rows } = await balance(trx, { tokenId });
  // The limit of a key delays no payment of a wallet: the work is done.
  if (walletId !== null) return (await lockWallets(trx, [walletId])).get(walletId) ?? 0;
  return Math.max(0, rows[0]?.remain_quota ?? 0);
}

/** Closes a reservation without a charge. `log`: writes an entry of quota 0. False when there is no such reservation. */
export async function refund(
  trx: Db,
  { requestId, log, now }: { requestId: string; log?: LogEntry; now: number },
): Promise<boolean> {
  const row = (await close(trx, { requestId })).rows[0];
  if (row === undefined) return false;
  if (log !== undefined) await writeLog(trx, requestId, row, { quota: 0, log, now });
  if (row.state !== 'open') return true;
  const { token_id: tokenId, reserved: returned } = row;
  if (row.unlimited === 0) await adjust(trx, { tokenId, returned, charged: 0, debt: 0 });
  await moveInWallet(trx, row.wallet_id, { balance: returned });
  await chargeBudgets(trx, budgetedKey(row), { reserved: returned, charged: 0 }, now);
  return true;
}

/** Closes the open reservations of requests whose gateway is lost. Their rows remain. Returns how many, and adds them to `returns`. */
export async function refundOrphans(trx: Db, returns: QuotaReturns, now: number): Promise<number> {
  const { rows } = await sql<Payers & { reserved: number }>`
    update ledger set state = 'refunded', closed_at = ${now} where request_id in (
      select request_id from ledger
      where state = 'open' and kind = 'request'
        and not exists (select 1 from gateways where gateways.id = ledger.gateway)
      order by request_id ${isPostgres(trx) ? sql`for no key update` : sql``})
    returning token_id, user_id, reserved, unlimited, wallet_id, budgeted`.execute(trx);
  for (const row of rows) {
    const { token_id: tokenId, reserved: returned, unlimited, wallet_id: walletId } = row;
    returns.add({ tokenId, unlimited, walletId }, { returned, leased: 0 });
    returns.addToBudgets(budgetedKey(row), returned);
  }
  return rows.length;
}
