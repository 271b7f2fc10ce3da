import { type RawBuilder, type Selectable, sql } from 'kysely';
import { snakeCased } from '../columns.ts';
import { unpostedOf } from '../queries/leases.ts';
import type { Db, QuotaLeasesTable, TokensTable } from '../schema.ts';
import { affectsRow, execute, isPostgres } from '../statement.ts';
import { returnLeftover } from './revocation.ts';

// Every command locks a lease before its key, so that no two commands deadlock.

/** A lease takes at most a quarter of the balance of its key. */
const share = 4;
/** How long no quota of a key is leased after a recall, in milliseconds. */
const exactMs = 5_000;

interface LeaseRequest {
  /** Unique. */
  id: string;
  /** Adds to an existing lease. */
  grow: boolean;
  tokenId: number;
  gateway: string;
  /** Smallest useful amount. */
  need: number;
  /** Largest useful amount. */
  want: number;
  /** Epoch milliseconds. */
  now: number;
}

export type LeaseGrant =
  | { outcome: 'granted'; amount: number }
  /** Nothing is changed. `scarce`: the balance is too low; `recalled`: the lease is recalled or does not exist. */
  | { outcome: 'scarce' | 'recalled' | 'unlimited' | 'key_revoked' };

/** Moves quota from a key's balance into a gateway's lease. */
export async function grantLease(trx: Db, request: LeaseRequest): Promise<LeaseGrant> {
  const { id, tokenId, need, now } = request;
  const lease = request.grow ? await lockLease(trx, id) : undefined;
  if (request.grow && lease === undefined) return { outcome: 'recalled' };
  const token = await lockToken(trx, tokenId);
  if (token === undefined || token.deleted_at !== null || token.status !== 1)
    return { outcome: 'key_revoked' };
  if (token.unlimited_quota === 1) return { outcome: 'unlimited' };
  const { lease_epoch: epoch } = token;
  if (lease !== undefined && (lease.epoch < epoch || lease.draining === 1)) return { outcome: 'recalled' };
  const amount = Math.min(request.want, Math.floor(token.remain_quota / share));
  if (token.exact === 1 || amount < need || amount <= 0) return { outcome: 'scarce' };
  const write = request.grow
    ? sql`update quota_leases set granted = granted + ${amount}, remaining = remaining + ${amount}, unposted = 0
        where id = ${id}`
    : sql`insert into quota_leases (id, token_id, gateway, granted, remaining, epoch, granted_at)
        values (${id}, ${tokenId}, ${request.gateway}, ${amount}, ${amount}, ${epoch}, ${now})`;
  await execute(trx, write, { prepared: true, pipelined: true });
  const move = moveQuota(tokenId, { remain: -amount, leased: amount - (lease?.unposted ?? 0) });
  await execute(trx, move, { prepared: true, pipelined: true });
  return { outcome: 'granted', amount };
}

/** Returns quota to the key and makes the lease drain, or with `amount` null ends it. False when the lease does not exist. */
export async function returnLease(
  trx: Db,
  { id, amount, now }: { id: string; amount: number | null; now: number },
): Promise<boolean> {
  const lease = await lockLease(trx, id);
  if (lease === undefined) return false;
  const returned = amount ?? lease.remaining;
  if (returned > lease.remaining)
    throw new RangeError(`lease ${id} has ${lease.remaining} left, not ${returned}`);
  if (amount === null) await trx.deleteFrom('quota_leases').where('id', '=', id).execute();
  else
    await sql`
      update quota_leases set remaining = remaining - ${returned}, unposted = 0, draining = 1
      where id = ${id}`.execute(trx);
  await returnToKey(trx, lease.token_id, { returned, unposted: lease.unposted }, now);
  return true;
}

/** Recalls the leases of a key and prevents new ones for `exactMs`. Returns the balance after their return, null without such a key. */
export async function recallLeases(trx: Db, { tokenId }: { tokenId: number }): Promise<number | null> {
  const until = sql<number>`${databaseClock(trx)} + ${sql.lit(exactMs)}`;
  const token = await trx
    .updateTable('tokens')
    .set((row) => ({ lease_epoch: row('lease_epoch', '+', 1), exact_until: until }))
    .where('id', '=', tokenId)
    .returning(['remain_quota', 'leased_quota', unpostedOf('tokens').as('unposted')])
    .executeTakeFirst();
  return token === undefined ? null : token.remain_quota + token.leased_quota - token.unposted;
}

interface ExactReservation {
  /** The lease that has `from` reserved; null: no quota is reserved. */
  lease: string | null;
  requestId: string;
  tokenId: number;
  userId: number;
  model: string;
  unit: string;
  from: number;
  to: number;
  /** The gateway that serves the request. */
  gateway: string;
  now: number;
}

/** Replaces a reservation of `from` in a lease by one of `to` in the ledger. Without the lease, the balance pays all of `to`. */
export async function reserveExactly(
  trx: Db,
  reservation: ExactReservation,
): Promise<'extended' | 'insufficient_quota'> {
  const { requestId, tokenId, from, to, now, lease: leaseId } = reservation;
  const lease = leaseId === null ? undefined : await lockLease(trx, leaseId);
  const reserved = lease === undefined ? 0 : from;
  if (lease !== undefined && lease.remaining < reserved)
    throw new RangeError(`lease ${leaseId} has ${lease.remaining} left, not ${reserved}`);
  const take = sql`
    update tokens set remain_quota = remain_quota + ${reserved - to}, leased_quota = leased_quota - ${reserved}
    where id = ${tokenId} and remain_quota >= ${to - reserved}`;
  if (!(await affectsRow(trx, take))) return 'insufficient_quota';
  if (leaseId !== null && reserved > 0)
    await sql`update quota_leases set remaining = remaining - ${reserved} where id = ${leaseId}`.execute(trx);
  const { userId, model, unit, gateway } = reservation;
  await trx
    .insertInto('ledger')
    .values({
      ...snakeCased({ requestId, tokenId, userId, model, unit, gateway }),
      reserved: to,
      unlimited: 0,
      state: 'open',
      kind: 'request',
      opened_at: now,
    })
    .execute();
  return 'extended';
}

/** Ends the leases of lost gateways and returns their quota. Returns how many. */
export async function reapLeases(trx: Db, now: number): Promise<number> {
  // Several gateways do this at once, each with its own part.
  const locking = isPostgres(trx) ? sql`for update skip locked` : sql``;
  const { rows: ended } = await sql<{ token_id: number; remaining: number; unposted: number }>`
    delete from quota_leases where id in (
      select id from quota_leases where gateway not in (select id from gateways) order by id ${locking})
    returning token_id, remaining, unposted`.execute(trx);
  const sums = new Map<number, Rest>();
  for (const { token_id: id, remaining, unposted } of ended) {
    const sum = sums.get(id) ?? { returned: 0, unposted: 0 };
    sums.set(id, { returned: sum.returned + remaining, unposted: sum.unposted + unposted });
  }
  // In the order of ids, so that two of these commands do not deadlock.
  for (const [id, rest] of [...sums].sort(([left], [right]) => left - right))
    await returnToKey(trx, id, rest, now);
  return ended.length;
}

/** Quota of ended leases: the part that returns to the key, and the part that tasks took and the key still counts as leased. */
interface Rest {
  returned: number;
  unposted: number;
}

/** Returns quota to a key, and from a deleted key to its funder. */
async function returnToKey(trx: Db, tokenId: number, { returned, unposted }: Rest, now: number) {
  const move = sql<Pick<Selectable<TokensTable>, 'deleted_at' | 'funder_id'>>`
    ${moveQuota(tokenId, { remain: returned, leased: -returned - unposted })} returning deleted_at, funder_id`;
  const { rows } = await execute(trx, move, { prepared: true });
  const [token] = rows;
  if (token !== undefined && token.deleted_at !== null && token.funder_id !== null)
    await returnLeftover(trx, tokenId, now);
}

/** Changes the balance and the leased quota of a key. */
const moveQuota = (tokenId: number, { remain, leased }: { remain: number; leased: number }) => sql`
  update tokens set remain_quota = remain_quota + ${remain}, leased_quota = leased_quota + ${leased}
  where id = ${tokenId}`;

type LeaseRow = Pick<
  Selectable<QuotaLeasesTable>,
  'token_id' | 'remaining' | 'unposted' | 'epoch' | 'draining'
>;

/** Locks a lease with an update that changes nothing, so that it stays as it is read. */
async function lockLease(trx: Db, id: string): Promise<LeaseRow | undefined> {
  const lock = sql<LeaseRow>`
    update quota_leases set remaining = remaining where id = ${id}
    returning token_id, remaining, unposted, epoch, draining`;
  return (await execute(trx, lock, { prepared: true })).rows[0];
}

type TokenRow = { exact: 0 | 1 } & Pick<
  Selectable<TokensTable>,
  'remain_quota' | 'unlimited_quota' | 'status' | 'deleted_at' | 'lease_epoch'
>;

/** Locks a key. `exact`: no quota may be leased now. */
async function lockToken(trx: Db, id: number): Promise<TokenRow | undefined> {
  const now = databaseClock(trx);
  // A clock that was set back must not extend the time.
  const lock = sql<TokenRow>`
    update tokens set used_quota = used_quota where id = ${id}
    returning remain_quota, unlimited_quota, status, deleted_at, lease_epoch,
      case when exact_until > ${now} and exact_until <= ${now} + ${sql.lit(exactMs)} then 1 else 0 end as exact`;
  return (await execute(trx, lock, { prepared: true })).rows[0];
}

/** Epoch milliseconds by the clock that all gateways share. */
function databaseClock(db: Db): RawBuilder<number> {
  return isPostgres(db)
    ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}
