import { type Kysely, type RawBuilder, sql } from 'kysely';
import { unpostedOf } from '../queries/leases.ts';
import type { Database } from '../schema.ts';
import { execute, isPostgres } from '../statement.ts';
import type { Command } from './command.ts';
import { returnLeftover } from './revocation.ts';

// Every command locks a lease before its key, so that no two commands deadlock.

/** A lease takes at most a quarter of the balance of its key. */
const share = 4;
/** How long no quota of a key is leased after a recall, in milliseconds. */
const exactMs = 5_000;

export interface LeaseRequest {
  /** A name that the gateway never uses again. */
  id: string;
  /** Whether the lease exists and grows. */
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
  /** Nothing is changed. `scarce`: the key has too little left; `recalled`: the lease is recalled, or does not exist. */
  | { outcome: 'scarce' | 'recalled' | 'unlimited' | 'key_revoked' };

/** Moves quota from a key's balance into a gateway's lease, or does nothing. */
export const grantLease: Command<LeaseRequest, LeaseGrant> = async (trx, request) => {
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
  if (request.grow) {
    const grow = trx
      .updateTable('quota_leases')
      .set((row) => ({
        granted: row('granted', '+', amount),
        remaining: row('remaining', '+', amount),
        unposted: 0,
      }))
      .where('id', '=', id);
    await execute(trx, grow, { prepared: true, pipelined: true });
  } else {
    const { gateway } = request;
    const figures = { granted: amount, remaining: amount, epoch, granted_at: now };
    const insert = trx.insertInto('quota_leases').values({ id, token_id: tokenId, gateway, ...figures });
    await execute(trx, insert, { prepared: true, pipelined: true });
  }
  const move = moveQuota(trx, tokenId, { remain: -amount, leased: amount - (lease?.unposted ?? 0) });
  await execute(trx, move, { prepared: true, pipelined: true });
  return { outcome: 'granted', amount };
};

export interface LeaseReturn {
  id: string;
  /** Amount to return; null: all of it, which ends the lease. */
  amount: number | null;
  /** Epoch milliseconds. */
  now: number;
}

/** Returns quota of a lease to its key, after which the lease makes no new reservations. False when the lease does not exist. */
export const returnLease: Command<LeaseReturn, boolean> = async (trx, { id, amount, now }) => {
  const lease = await lockLease(trx, id);
  if (lease === undefined) return false;
  const back = amount ?? lease.remaining;
  if (back > lease.remaining) throw new RangeError(`lease ${id} has ${lease.remaining} left, not ${back}`);
  if (amount === null) await trx.deleteFrom('quota_leases').where('id', '=', id).execute();
  else
    await trx
      .updateTable('quota_leases')
      .set((row) => ({ remaining: row('remaining', '-', back), unposted: 0, draining: 1 as const }))
      .where('id', '=', id)
      .execute();
  await giveBack(trx, lease.token_id, { back, unposted: lease.unposted }, now);
  return true;
};

/**
 * Recalls the leases of a key and prevents new ones for a while, since a call needs more than the balance. Returns the balance that the
 * key can have after that. Null when the key does not exist.
 */
export const recallLeases: Command<{ tokenId: number }, number | null> = async (trx, { tokenId }) => {
  const until = sql<number>`${databaseClock(trx)} + ${sql.lit(exactMs)}`;
  const token = await trx
    .updateTable('tokens')
    .set((row) => ({ lease_epoch: row('lease_epoch', '+', 1), exact_until: until }))
    .where('id', '=', tokenId)
    .returning(['remain_quota', 'leased_quota', unpostedOf('tokens').as('unposted')])
    .executeTakeFirst();
  return token === undefined ? null : token.remain_quota + token.leased_quota - token.unposted;
};

export interface ExactHold {
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

/**
 * Replaces a reservation of `from` in a lease by one of `to` in the ledger. Without a lease, or with one that does not exist any more,
 * the balance pays all of `to`. Without enough quota nothing is changed.
 */
export const reserveExactly: Command<ExactHold, 'extended' | 'insufficient_quota'> = async (trx, hold) => {
  const lease = hold.lease === null ? undefined : await lockLease(trx, hold.lease);
  const had = lease === undefined ? 0 : hold.from;
  if (lease !== undefined && lease.remaining < had)
    throw new RangeError(`lease ${hold.lease} has ${lease.remaining} left, not ${had}`);
  const taken = await trx
    .updateTable('tokens')
    .set((row) => ({
      remain_quota: row('remain_quota', '+', had - hold.to),
      leased_quota: row('leased_quota', '-', had),
    }))
    .where('id', '=', hold.tokenId)
    .where('remain_quota', '>=', hold.to - had)
    .executeTakeFirst();
  if (taken.numUpdatedRows === 0n) return 'insufficient_quota';
  if (hold.lease !== null && had > 0)
    await trx
      .updateTable('quota_leases')
      .set((row) => ({ remaining: row('remaining', '-', had) }))
      .where('id', '=', hold.lease)
      .execute();
  await trx
    .insertInto('ledger')
    .values({
      request_id: hold.requestId,
      token_id: hold.tokenId,
      user_id: hold.userId,
      model: hold.model,
      unit: hold.unit,
      reserved: hold.to,
      unlimited: 0,
      state: 'open',
      kind: 'request',
      opened_at: hold.now,
      closed_at: null,
      gateway: hold.gateway,
    })
    .execute();
  return 'extended';
};

/** Ends the leases of lost gateways and returns their quota. Returns how many. */
export async function reapLeases(trx: Kysely<Database>, now: number): Promise<number> {
  const gone = await trx
    .deleteFrom('quota_leases')
    .where('id', 'in', (db) =>
      db
        .selectFrom('quota_leases')
        .select('id')
        .where('gateway', 'not in', (alive) => alive.selectFrom('gateways').select('id'))
        .orderBy('id')
        // Several gateways do this at once, each with its own part.
        .$if(isPostgres(trx), (query) => query.forUpdate().skipLocked()),
    )
    .returning(['token_id', 'remaining', 'unposted'])
    .execute();
  const owed = new Map<number, Rest>();
  for (const { token_id: id, remaining, unposted } of gone) {
    const rest = owed.get(id) ?? { back: 0, unposted: 0 };
    owed.set(id, { back: rest.back + remaining, unposted: rest.unposted + unposted });
  }
  // In the order of ids, so that two of these commands do not deadlock.
  for (const [id, rest] of [...owed].sort(([left], [right]) => left - right))
    await giveBack(trx, id, rest, now);
  return gone.length;
}

/** Quota of ended leases that returns to a key, and the part that tasks took and the key still counts as leased. */
interface Rest {
  back: number;
  unposted: number;
}

/** Returns quota to a key, and from a deleted key to its funder. */
async function giveBack(
  trx: Kysely<Database>,
  tokenId: number,
  { back, unposted }: Rest,
  now: number,
): Promise<void> {
  const move = moveQuota(trx, tokenId, { remain: back, leased: -back - unposted });
  const { rows } = await execute(trx, move.returning(['deleted_at', 'funder_id']), { prepared: true });
  const [token] = rows;
  if (token !== undefined && token.deleted_at !== null && token.funder_id !== null)
    await returnLeftover(trx, tokenId, now);
}

/** Changes the balance and the leased quota of a key. */
function moveQuota(
  trx: Kysely<Database>,
  tokenId: number,
  { remain, leased }: { remain: number; leased: number },
) {
  return trx
    .updateTable('tokens')
    .set((row) => ({
      remain_quota: row('remain_quota', '+', remain),
      leased_quota: row('leased_quota', '+', leased),
    }))
    .where('id', '=', tokenId);
}

/** Locks a lease with an update that changes nothing, so that it stays as it is read. */
async function lockLease(trx: Kysely<Database>, id: string) {
  const lock = trx
    .updateTable('quota_leases')
    .set((row) => ({ remaining: row.ref('remaining') }))
    .where('id', '=', id)
    .returning(['token_id', 'remaining', 'unposted', 'epoch', 'draining']);
  return (await execute(trx, lock, { prepared: true })).rows[0];
}

async function lockToken(trx: Kysely<Database>, id: number) {
  const now = databaseClock(trx);
  // A clock that was set back must not extend the time.
  const exact = sql<number>`case when exact_until > ${now} and exact_until <= ${now} + ${sql.lit(exactMs)}
    then 1 else 0 end`;
  const lock = trx
    .updateTable('tokens')
    .set((row) => ({ used_quota: row.ref('used_quota') }))
    .where('id', '=', id)
    .returning(['remain_quota', 'unlimited_quota', 'status', 'deleted_at', 'lease_epoch', exact.as('exact')]);
  return (await execute(trx, lock, { prepared: true })).rows[0];
}

/** Epoch milliseconds by the clock that all gateways share. */
function databaseClock(db: Kysely<Database>): RawBuilder<number> {
  return isPostgres(db)
    ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}
