import type { Kysely } from 'kysely';
import { dayOf } from '../log-days.ts';
import type { Database, ReservationKind } from '../schema.ts';
import { statement } from '../statement.ts';
import type { Command } from './command.ts';
import { correctEntries, type LogEntry, writeEntries } from './log-entries.ts';

export type Reservation = {
  requestId: string;
  tokenId: number;
  userId: number;
  model: string;
  unit: string;
  amount: number;
  kind: ReservationKind;
  /** The gateway that is at work on it; null for tasks. */
  gateway: string | null;
  now: number;
};

export type ReserveResult = 'reserved' | 'insufficient_quota' | 'duplicate' | 'key_revoked';

const open = statement<Reservation, { unlimited: number }>()`
  insert into ledger (request_id, token_id, user_id, model, unit, reserved, unlimited, state, kind, gateway, opened_at)
  select ${'requestId'}, ${'tokenId'}, ${'userId'}, ${'model'}, ${'unit'}, ${'amount'}, unlimited_quota, 'open',
    ${'kind'}, ${'gateway'}, ${'now'}
  from tokens where id = ${'tokenId'} and (unlimited_quota = 1 or remain_quota >= ${'amount'})
    and deleted_at is null and status = 1
  on conflict (request_id) do nothing
  returning unlimited`;

const exists = statement<{ requestId: string }>()`select 1 from ledger where request_id = ${'requestId'}`;

const usable = statement<{ tokenId: number }>()`
  select 1 from tokens where id = ${'tokenId'} and deleted_at is null and status = 1`;

const take = statement<{ tokenId: number; amount: number }>()`
  update tokens set remain_quota = remain_quota - ${'amount'} where id = ${'tokenId'} and remain_quota >= ${'amount'}`;

const forget = statement<{ requestId: string }>()`delete from ledger where request_id = ${'requestId'}`;

/** Opens the request's ledger row and lowers the balance by `amount`, or writes nothing. */
export const reserve: Command<Reservation, ReserveResult> = async (trx, reservation) => {
  const { requestId, tokenId, amount } = reservation;
  const row = (await open(trx, reservation)).rows[0];
  if (row === undefined) {
    if ((await exists(trx, { requestId })).rows.length > 0) return 'duplicate';
    return (await usable(trx, { tokenId })).rows.length > 0 ? 'insufficient_quota' : 'key_revoked';
  }
  if (row.unlimited === 1 || amount === 0) return 'reserved';
  const taken = await take(trx, { tokenId, amount });
  if (taken.numAffectedRows === 1n) return 'reserved';
  // Another process spent the balance between the two statements.
  await forget(trx, { requestId });
  return 'insufficient_quota';
};

export type ExtendResult = 'extended' | 'insufficient_quota' | 'not_open';

type Extension = { requestId: string; from: number; to: number };

const raise = statement<Extension, { token_id: number; unlimited: number }>()`
  update ledger set reserved = ${'to'}
  where request_id = ${'requestId'} and state = 'open' and reserved = ${'from'}
  returning token_id, unlimited`;

const reopenRaised = statement<Extension, { token_id: number; unlimited: number }>()`
  update ledger set state = 'open', reserved = ${'to'}, closed_at = null
  where request_id = ${'requestId'} and state = 'refunded' and gateway is not null and reserved = ${'from'}
  returning token_id, unlimited`;

const restore = statement<{ requestId: string; from: number; state: string; closedAt: number | null }>()`
  update ledger set reserved = ${'from'}, state = ${'state'}, closed_at = ${'closedAt'}
  where request_id = ${'requestId'}`;

/**
 * Raises what an open reservation holds from `from` to `to`; one that was given back because its gateway was thought
 * gone is taken anew. Without enough balance it stays as it was. `not_open` when the reservation is closed, never
 * was, or does not hold `from`.
 */
export const extend: Command<Extension & { now: number }, ExtendResult> = async (
  trx,
  { now, ...extension },
) => {
  const { requestId, from, to } = extension;
  const raised = (await raise(trx, extension)).rows[0];
  const row = raised ?? (await reopenRaised(trx, extension)).rows[0];
  if (row === undefined) return 'not_open';
  const amount = raised === undefined ? to : to - from;
  if (row.unlimited === 1 || amount === 0) return 'extended';
  const taken = await take(trx, { tokenId: row.token_id, amount });
  if (taken.numAffectedRows === 1n) return 'extended';
  const before =
    raised === undefined ? { state: 'refunded', closedAt: now } : { state: 'open', closedAt: null };
  await restore(trx, { requestId, from, ...before });
  return 'insufficient_quota';
};

interface ClosedRow {
  token_id: number;
  user_id: number;
  model: string;
  unit: string;
  reserved: number;
  unlimited: 0 | 1;
  /** `refunded`: it was given back because its gateway was thought gone, and nothing is held any more. */
  state: 'open' | 'refunded';
}

/** Whoever finds the row closes it, and nobody finds it after that. */
const close = statement<{ requestId: string }, ClosedRow>()`
  delete from ledger
  where request_id = ${'requestId'} and (state = 'open' or (state = 'refunded' and gateway is not null))
  returning token_id, user_id, model, unit, reserved, unlimited, state`;

const adjust = statement<{ tokenId: number; giveBack: number; charged: number; debt: number }>()`
  update tokens set remain_quota = remain_quota + ${'giveBack'}, used_quota = used_quota + ${'charged'},
    debt = debt + ${'debt'}
  where id = ${'tokenId'}`;

/** All that remains of a reservation. */
function writeLog(
  trx: Kysely<Database>,
  requestId: string,
  row: ClosedRow,
  figures: { reserved: number; quota: number; debt: number },
  log: LogEntry,
  now: number,
): Promise<void> {
  const { user_id: userId, token_id: tokenId, model, unit, unlimited } = row;
  return writeEntries(trx, [{ requestId, userId, tokenId, model, unit, ...figures, unlimited, log, now }]);
}

/** The update that changes nothing locks the row, so that the balance stays what it says. */
const balance = statement<{ tokenId: number }, { remain_quota: number }>()`
  update tokens set used_quota = used_quota where id = ${'tokenId'} returning remain_quota`;

/** How the cost of a call was met: `charged` was taken, and `debt` is owed by the key. */
export type Settlement = { charged: number; debt: number };

/**
 * Charges the cost and leaves the log's entry in the place of the reservation. A cost beyond the reservation comes out
 * of the key's balance, and so does all of it where the reservation was given back because its gateway was thought
 * gone. The rest is a debt of the key; a call of a key without a limit has none. Undefined when the reservation is not
 * there any more: nothing is written then.
 */
export const settle: Command<
  { requestId: string; charged: number; log: LogEntry; now: number },
  Settlement | undefined
> = async (trx, { requestId, charged: cost, log: entry, now }) => {
  const row = (await close(trx, { requestId })).rows[0];
  if (row === undefined) return undefined;
  const { token_id: tokenId, reserved } = row;
  const isLimited = row.unlimited === 0;
  const reservation = isLimited && row.state === 'open' ? reserved : 0;
  const beyond = isLimited ? Math.max(0, cost - reservation) : 0;
  await writeLog(trx, requestId, row, { reserved, quota: cost, debt: 0 }, entry, now);
  // After the log and last, since the key's row is the one that other processes wait for.
  const debt = beyond === 0 ? 0 : Math.max(0, beyond - (await lockBalance(trx, tokenId)));
  const charged = cost - debt;
  const day = dayOf(now);
  if (debt > 0)
    await correctEntries(trx, [{ request_id: requestId, quota: charged, debt }], { first: day, last: day });
  const giveBack = isLimited ? reservation - charged : 0;
  await adjust(trx, { tokenId, giveBack, charged, debt });
  return { charged, debt };
};

/** Balance of a key, at least 0, which stays the same until the end of the transaction. */
async function lockBalance(trx: Kysely<Database>, tokenId: number): Promise<number> {
  const { remain_quota: left = 0 } = (await balance(trx, { tokenId })).rows[0] ?? {};
  return Math.max(0, left);
}

/**
 * Gives the reservation back, and logs it at quota 0 when there is a log entry. False when the reservation is not there any more; it
 * is enough that it was given back because its gateway was thought gone.
 */
export const refund: Command<{ requestId: string; log?: LogEntry; now: number }, boolean> = async (
  trx,
  { requestId, log: entry, now },
) => {
  const row = (await close(trx, { requestId })).rows[0];
  if (row === undefined) return false;
  if (entry !== undefined)
    await writeLog(trx, requestId, row, { reserved: row.reserved, quota: 0, debt: 0 }, entry, now);
  if (row.state === 'open' && row.unlimited === 0)
    await adjust(trx, { tokenId: row.token_id, giveBack: row.reserved, charged: 0, debt: 0 });
  return true;
};

/** Gives back what open requests hold, never tasks, whose gateway is not there any more, and says how many. Their rows stay. */
export const refundOrphans: Command<{ now: number }, number> = async (trx, { now }) => {
  const rows = await trx
    .updateTable('ledger')
    .set({ state: 'refunded', closed_at: now })
    .where('state', '=', 'open')
    .where('kind', '=', 'request')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('gateways').select('id').whereRef('gateways.id', '=', 'ledger.gateway'))),
    )
    .returning(['token_id', 'reserved', 'unlimited'])
    .execute();
  const owed = new Map<number, number>();
  for (const row of rows) {
    if (row.unlimited === 0) owed.set(row.token_id, (owed.get(row.token_id) ?? 0) + row.reserved);
  }
  // In one order, so that two that do this at once do not wait for each other in a circle.
  for (const [tokenId, giveBack] of [...owed].sort(([left], [right]) => left - right)) {
    await adjust(trx, { tokenId, giveBack, charged: 0, debt: 0 });
  }
  return rows.length;
};
