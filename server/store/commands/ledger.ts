import { sql } from 'kysely';
import type { Db, LedgerTable, ReservationKind } from '../schema.ts';
import { statement } from '../statement.ts';
import { correctEntries, type LogEntry, writeEntries } from './log-entries.ts';

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

const remove = statement<{ requestId: string }>()`delete from ledger where request_id = ${'requestId'}`;

/** Reserves quota of a key for a request: opens a ledger row and lowers the balance, or writes nothing. */
export async function reserve(trx: Db, reservation: Reservation): Promise<ReserveResult> {
  const { requestId, tokenId, amount } = reservation;
  const row = (await open(trx, reservation)).rows[0];
  if (row === undefined) {
    if ((await exists(trx, { requestId })).rows.length > 0) return 'duplicate';
    return (await usable(trx, { tokenId })).rows.length > 0 ? 'insufficient_quota' : 'key_revoked';
  }
  if (row.unlimited === 1 || amount === 0) return 'reserved';
  const taken = await take(trx, { tokenId, amount });
  if (taken.numAffectedRows === 1n) return 'reserved';
  // Another transaction spent the balance between the two statements.
  await remove(trx, { requestId });
  return 'insufficient_quota';
}

export type ExtendResult = 'extended' | 'insufficient_quota' | 'not_open';

type Extension = { requestId: string; from: number; to: number };
type Extended = Pick<LedgerTable, 'token_id' | 'unlimited'>;

const raise = statement<Extension, Extended>()`
  update ledger set reserved = ${'to'}
  where request_id = ${'requestId'} and state = 'open' and reserved = ${'from'}
  returning token_id, unlimited`;

const reopenRaised = statement<Extension, Extended>()`
  update ledger set state = 'open', reserved = ${'to'}, closed_at = null
  where request_id = ${'requestId'} and state = 'refunded' and gateway is not null and reserved = ${'from'}
  returning token_id, unlimited`;

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
  if (row.unlimited === 1 || amount === 0) return 'extended';
  const taken = await take(trx, { tokenId: row.token_id, amount });
  if (taken.numAffectedRows === 1n) return 'extended';
  const before =
    raised === undefined ? { state: 'refunded', closedAt: now } : { state: 'open', closedAt: null };
  await restore(trx, { requestId, from, ...before });
  return 'insufficient_quota';
}

type ClosedRow = Pick<
  LedgerTable,
  'token_id' | 'user_id' | 'model' | 'unit' | 'reserved' | 'unlimited' | 'state'
>;

/** Deletes the row, so that a reservation is closed once. */
const close = statement<{ requestId: string }, ClosedRow>()`
  delete from ledger
  where request_id = ${'requestId'} and (state = 'open' or (state = 'refunded' and gateway is not null))
  returning token_id, user_id, model, unit, reserved, unlimited, state`;

const adjust = statement<{ tokenId: number; returned: number; charged: number; debt: number }>()`
  update tokens set remain_quota = remain_quota + ${'returned'}, used_quota = used_quota + ${'charged'},
    debt = debt + ${'debt'}
  where id = ${'tokenId'}`;

/** Writes the log entry of a closed reservation. */
function writeLog(
  trx: Db,
  requestId: string,
  row: ClosedRow,
  { quota, log, now }: { quota: number; log: LogEntry; now: number },
): Promise<void> {
  const { user_id: userId, token_id: tokenId, model, unit, reserved, unlimited } = row;
  return writeEntries(trx, [
    { requestId, userId, tokenId, model, unit, reserved, quota, debt: 0, unlimited, log, now },
  ]);
}

/** The update changes nothing. It locks the row, so that the balance stays as it is read. */
const balance = statement<{ tokenId: number }, { remain_quota: number }>()`
  update tokens set used_quota = used_quota where id = ${'tokenId'} returning remain_quota`;

/** The parts of a cost: `charged` was taken, and the key owes `debt`. */
export type Settlement = { charged: number; debt: number };

/** Settles a reservation: the balance pays a cost beyond it, and the rest becomes a debt. Undefined without such a reservation. */
export async function settle(
  trx: Db,
  { requestId, charged: cost, log, now }: { requestId: string; charged: number; log: LogEntry; now: number },
): Promise<Settlement | undefined> {
  const row = (await close(trx, { requestId })).rows[0];
  if (row === undefined) return undefined;
  const { token_id: tokenId } = row;
  const isLimited = row.unlimited === 0;
  const reservation = isLimited && row.state === 'open' ? row.reserved : 0;
  const beyond = isLimited ? Math.max(0, cost - reservation) : 0;
  await writeLog(trx, requestId, row, { quota: cost, log, now });
  // After the log and last, since other processes wait for the key's row.
  const debt = beyond === 0 ? 0 : Math.max(0, beyond - (await lockBalance(trx, tokenId)));
  const charged = cost - debt;
  if (debt > 0) await correctEntries(trx, [{ requestId, quota: charged, debt }], [now]);
  await adjust(trx, { tokenId, returned: isLimited ? reservation - charged : 0, charged, debt });
  return { charged, debt };
}

/** Locks a key and returns its balance, at least 0. */
async function lockBalance(trx: Db, tokenId: number): Promise<number> {
  const { rows } = await balance(trx, { tokenId });
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
  if (row.state === 'open' && row.unlimited === 0)
    await adjust(trx, { tokenId: row.token_id, returned: row.reserved, charged: 0, debt: 0 });
  return true;
}

/** Refunds the open reservations of requests whose gateway is lost. Their rows remain. Returns how many. */
export async function refundOrphans(trx: Db, { now }: { now: number }): Promise<number> {
  const { rows } = await sql<Extended & { reserved: number }>`
    update ledger set state = 'refunded', closed_at = ${now}
    where state = 'open' and kind = 'request'
      and not exists (select 1 from gateways where gateways.id = ledger.gateway)
    returning token_id, reserved, unlimited`.execute(trx);
  const sums = new Map<number, number>();
  for (const { token_id: id, reserved, unlimited } of rows)
    if (unlimited === 0) sums.set(id, (sums.get(id) ?? 0) + reserved);
  // In the order of ids, so that two of these commands do not deadlock.
  for (const [tokenId, returned] of [...sums].sort(([left], [right]) => left - right))
    await adjust(trx, { tokenId, returned, charged: 0, debt: 0 });
  return rows.length;
}
