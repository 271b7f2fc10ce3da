import { type RawBuilder, type Selectable, sql } from 'kysely';
import { snakeCased } from '../columns.ts';
import { unpostedOf } from '../queries/leases.ts';
import type { Db, QuotaLeasesTable, TokensTable } from '../schema.ts';
import { execute, isPostgres } from '../statement.ts';
import { type QuotaOrigin, QuotaReturns } from './quota-returns.ts';
import { moveInWallet, takeFromWallet } from './wallet-moves.ts';

// The order of locks is documented in wallet-moves.ts.

/** A lease takes at most a quarter of the balance of its key, and of its wallet. */
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
  /** `unlimited`: the key has no limit, so that its wallet alone gave the quota. */
  | { outcome: 'granted'; amount: number; unlimited?: boolean }
  /** Nothing is changed. `scarce`: the balance is too low; `recalled`: the lease is recalled or does not exist. */
  | { outcome: 'scarce' | 'recalled' | 'unlimited' | 'key_revoked' };

/** Moves quota from the balance of a key, and from its wallet, into a gateway's lease. */
export async function grantLease(trx: Db, request: LeaseRequest): Promise<LeaseGrant> {
  const { id, tokenId, need, now } = request;
  const lease = request.grow ? await lockLease(trx, id) : undefined;
  if (request.grow && lease === undefined) return { outcome: 'recalled' };
  const token = await lockToken(trx, tokenId);
  if (token === undefined || token.deleted_at !== null || token.status !== 1)
    return { outcome: 'key_revoked' };
  const { lease_epoch: epoch, unlimited_quota: unlimited, wallet_id: walletId } = token;
  // Budgets count reservations of the ledger only.
  if (token.budgeted > 0) return { outcome: 'scarce' };
  if (unlimited === 1 && walletId === null) return { outcome: 'unlimited' };
  if (lease !== undefined && (lease.epoch < epoch || lease.draining === 1)) return { outcome: 'recalled' };
  const purse = walletId === null ? undefined : await lockWallet(trx, walletId);
  const limit = unlimited === 1 ? Number.MAX_SAFE_INTEGER : token.remain_quota;
  const available = Math.min(limit, purse?.balance ?? limit);
  const amount = Math.min(request.want, Math.floor(available / share));
  if (token.exact === 1 || purse?.exact === 1 || amount < need || amount <= 0) return { outcome: 'scarce' };
  const write = request.grow
    ? sql`update quota_leases set granted = granted + ${amount}, remaining = remaining + ${amount}, unposted = 0
        where id = ${id}`
    : sql`insert into quota_leases
          (id, token_id, gateway, granted, remaining, epoch, unlimited, wallet_id, granted_at)
        values (${id}, ${tokenId}, ${request.gateway}, ${amount}, ${amount}, ${epoch}, ${unlimited}, ${walletId}, ${now})`;
  await execute(trx, write, { prepared: true, pipelined: true });
  const leased = amount - (lease?.unposted ?? 0);
  if (unlimited === 0)
    await execute(trx, moveQuota(tokenId, { remain: -amount, leased }), { prepared: true, pipelined: true });
  await moveInWallet(trx, walletId, { balance: -amount, leased });
  return { outcome: 'granted', amount, ...(unlimited === 1 && { unlimited: true }) };
}

/** Returns quota to the key and its wallet, and makes the lease drain, or with `amount` null ends it. False when the lease does not exist. */
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
  const returns = new QuotaReturns();
  returns.add(originOf(lease), { returned, leased: returned + lease.unposted });
  await returns.apply(trx, now);
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

/**
 * Recalls the leases of all keys of a wallet and prevents new ones for `exactMs`. Returns how many are not recalled yet, since they
 * were granted meanwhile. No more are granted then, so that a second recall includes them.
 */
export async function recallWallet(trx: Db, { userId }: { userId: number }): Promise<number> {
  const leased = sql`select token_id from quota_leases where wallet_id = ${userId} and draining = 0`;
  const locked = sql`select id from tokens where id in (${leased}) order by id
    ${isPostgres(trx) ? sql`for no key update` : sql``}`;
  await sql`update tokens set lease_epoch = lease_epoch + 1 where id in (${locked})`.execute(trx);
  const until = sql`${databaseClock(trx)} + ${sql.lit(exactMs)}`;
  await sql`update wallets set exact_until = ${until} where user_id = ${userId}`.execute(trx);
  const { rows } = await sql<{ missed: number }>`
    select count(*) as missed from quota_leases q join tokens t on t.id = q.token_id
    where q.wallet_id = ${userId} and q.draining = 0 and q.epoch >= t.lease_epoch`.execute(trx);
  return rows[0]?.missed ?? 0;
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
  const token = await lockToken(trx, tokenId);
  if (token === undefined) return 'insufficient_quota';
  const { unlimited, walletId } = lease === undefined ? payersOf(token) : originOf(lease);
  const needed = to - reserved;
  if (unlimited === 0 && token.remain_quota < needed) return 'insufficient_quota';
  if (walletId !== null && !(await takeFromWallet(trx, walletId, needed))) return 'insufficient_quota';
  if (unlimited === 0) await moveQuota(tokenId, { remain: -needed, leased: -reserved }).execute(trx);
  await moveInWallet(trx, walletId, { leased: -reserved });
  if (lease !== undefined && reserved > 0)
    await sql`update quota_leases set remaining = remaining - ${reserved} where id = ${leaseId}`.execute(trx);
  const { userId, model, unit, gateway } = reservation;
  await trx
    .insertInto('ledger')
    .values({
      ...snakeCased({ requestId, tokenId, userId, model, unit, gateway }),
      reserved: to,
      unlimited,
      wallet_id: walletId,
      state: 'open',
      kind: 'request',
      opened_at: now,
    })
    .execute();
  return 'extended';
}

/** Ends the leases of lost gateways. Returns how many, and adds their quota to `returns`. */
export async function reapLeases(trx: Db, returns: QuotaReturns): Promise<number> {
  // Several gateways do this at once, each with its own part.
  const locking = isPostgres(trx) ? sql`for update skip locked` : sql``;
  const { rows: ended } = await sql<LeaseRow>`
    delete from quota_leases where id in (
      select id from quota_leases where gateway not in (select id from gateways) order by id ${locking})
    returning ${sql.raw(leaseColumns)}`.execute(trx);
  for (const lease of ended)
    returns.add(originOf(lease), { returned: lease.remaining, leased: lease.remaining + lease.unposted });
  return ended.length;
}

/** Changes the balance and the leased quota of a key. */
const moveQuota = (tokenId: number, { remain, leased }: { remain: number; leased: number }) => sql`
  update tokens set remain_quota = remain_quota + ${remain}, leased_quota = leased_quota + ${leased}
  where id = ${tokenId}`;

const leaseColumns = 'token_id, remaining, unposted, epoch, draining, unlimited, wallet_id';
type LeaseRow = Pick<
  Selectable<QuotaLeasesTable>,
  'token_id' | 'remaining' | 'unposted' | 'epoch' | 'draining' | 'unlimited' | 'wallet_id'
>;

const originOf = ({ token_id: tokenId, unlimited, wallet_id: walletId }: LeaseRow): QuotaOrigin => ({
  tokenId,
  unlimited,
  walletId,
});

/** Locks a lease with an update that changes nothing, so that it stays as it is read. */
async function lockLease(trx: Db, id: string): Promise<LeaseRow | undefined> {
  const lock = sql<LeaseRow>`
    update quota_leases set remaining = remaining where id = ${id} returning ${sql.raw(leaseColumns)}`;
  return (await execute(trx, lock, { prepared: true })).rows[0];
}

type TokenRow = { exact: 0 | 1 } & Pick<
  Selectable<TokensTable>,
  'remain_quota' | 'unlimited_quota' | 'wallet_id' | 'budgeted' | 'status' | 'deleted_at' | 'lease_epoch'
>;

/** Locks a key. `exact`: no quota may be leased now. */
async function lockToken(trx: Db, id: number): Promise<TokenRow | undefined> {
  const lock = sql<TokenRow>`
    update tokens set used_quota = used_quota where id = ${id}
    returning remain_quota, unlimited_quota, wallet_id, budgeted, status, deleted_at, lease_epoch, ${isExact(trx)} as exact`;
  return (await execute(trx, lock, { prepared: true })).rows[0];
}

/** Locks a wallet. `exact`: no quota may be leased now. */
async function lockWallet(trx: Db, userId: number): Promise<{ balance: number; exact: 0 | 1 } | undefined> {
  const lock = sql<{ balance: number; exact: 0 | 1 }>`
    update wallets set used = used where user_id = ${userId} returning balance, ${isExact(trx)} as exact`;
  return (await execute(trx, lock, { prepared: true })).rows[0];
}

/** The balances that pay for a call of a key that has no reservation yet. A key without a limit and wallet has none. */
const payersOf = ({ unlimited_quota, wallet_id: walletId }: TokenRow) =>
  walletId !== null ? { unlimited: unlimited_quota, walletId } : ({ unlimited: 0, walletId: null } as const);

/** Whether `exact_until` is in the future. A clock that was set back must not extend the time. */
function isExact(trx: Db): RawBuilder<0 | 1> {
  const now = databaseClock(trx);
  return sql<0 | 1>`
    case when exact_until > ${now} and exact_until <= ${now} + ${sql.lit(exactMs)} then 1 else 0 end`;
}

/** Epoch milliseconds by the clock that all gateways share. */
function databaseClock(db: Db): RawBuilder<number> {
  return isPostgres(db)
    ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}
