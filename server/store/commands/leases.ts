import { type Kysely, type RawBuilder, sql } from 'kysely';
import { unpostedOf } from '../queries/leases.ts';
import type { Database } from '../schema.ts';
import { isPostgres, kept, unwaited } from '../statement.ts';
import type { Command } from './command.ts';
import { returnLeftover } from './revocation.ts';

const keptUnwaited = sql`${unwaited} ${kept}`;

// Whoever locks a lease and its key locks the lease first, so that no two wait for each other in a circle.

/** A lease takes at most one part in so many of what its key has left. */
const share = 4;
/** So long nothing is leased of a key after somebody needed all that it has, in milliseconds. */
const exactMs = 5_000;

export interface LeaseWish {
  /** The gateway's own name for the lease, of all time. */
  id: string;
  /** Whether it is there already and is to grow. */
  grow: boolean;
  tokenId: number;
  gateway: string;
  /** Less than this is of no use. */
  need: number;
  /** As much as this is worth having. */
  want: number;
  /** Epoch milliseconds. */
  now: number;
}

export type LeaseGrant =
  | { outcome: 'granted'; amount: number }
  /** Nothing is changed. `scarce`: the key has too little left; `recalled`: the lease is to come back, or is not there. */
  | { outcome: 'scarce' | 'recalled' | 'unlimited' | 'key_revoked' };

/** Takes quota out of a key's balance into a gateway's lease, or does nothing. */
export const grantLease: Command<LeaseWish, LeaseGrant> = async (trx, wish) => {
  const { id, tokenId, need, now } = wish;
  const lease = wish.grow ? await lockLease(trx, id) : undefined;
  if (wish.grow && lease === undefined) return { outcome: 'recalled' };
  const token = await lockToken(trx, tokenId);
  if (token === undefined || token.deleted_at !== null || token.status !== 1)
    return { outcome: 'key_revoked' };
  if (token.unlimited_quota === 1) return { outcome: 'unlimited' };
  const { lease_epoch: epoch } = token;
  if (lease !== undefined && (lease.epoch < epoch || lease.draining === 1)) return { outcome: 'recalled' };
  const amount = Math.min(wish.want, Math.floor(token.remain_quota / share));
  if (token.exact === 1 || amount < need || amount <= 0) return { outcome: 'scarce' };
  if (wish.grow)
    await trx
      .updateTable('quota_leases')
      .set((row) => ({
        granted: row('granted', '+', amount),
        remaining: row('remaining', '+', amount),
        unposted: 0,
      }))
      .where('id', '=', id)
      .modifyEnd(keptUnwaited)
      .execute();
  else {
    const { gateway } = wish;
    const figures = { granted: amount, remaining: amount, epoch, granted_at: now };
    await trx
      .insertInto('quota_leases')
      .values({ id, token_id: tokenId, gateway, ...figures })
      .modifyEnd(keptUnwaited)
      .execute();
  }
  const leased = amount - (lease?.unposted ?? 0);
  await move(trx, tokenId, { remain: -amount, leased }).modifyEnd(keptUnwaited).execute();
  return { outcome: 'granted', amount };
};

export interface LeaseReturn {
  id: string;
  /** What is given back; null: all that it has left, and the lease is over. */
  amount: number | null;
  /** Epoch milliseconds. */
  now: number;
}

/** Gives back what a lease does not need, and has it hold nothing new. False when it is not there any more. */
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
 * Asks for what gateways have of a key, and has nothing leased of it for a while, since somebody needs more than there is in the
 * balance. Gives all that the key could have left then; null: there is no such key.
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
  /** The lease that holds `from`; null: nothing of the key's quota is held. */
  lease: string | null;
  requestId: string;
  tokenId: number;
  userId: number;
  model: string;
  unit: string;
  from: number;
  to: number;
  /** The gateway that is at work on it. */
  gateway: string;
  now: number;
}

/**
 * Makes a reservation of `to` out of a hold of `from` in a lease; of a lease that is gone, or of none, nothing is left for it. Without
 * enough quota nothing is changed.
 */
export const holdExactly: Command<ExactHold, 'extended' | 'insufficient_quota'> = async (trx, hold) => {
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

/** Gives back the leases of gateways that are not there any more, and says how many. */
export async function reapLeases(trx: Kysely<Database>, now: number): Promise<number> {
  const gone = await trx
    .deleteFrom('quota_leases')
    .where('id', 'in', (db) =>
      db
        .selectFrom('quota_leases')
        .select('id')
        .where('gateway', 'not in', (alive) => alive.selectFrom('gateways').select('id'))
        .orderBy('id')
        // Several gateways do this at once, each its own part.
        .$if(isPostgres(trx), (query) => query.forUpdate().skipLocked()),
    )
    .returning(['token_id', 'remaining', 'unposted'])
    .execute();
  const owed = new Map<number, Rest>();
  for (const { token_id: id, remaining, unposted } of gone) {
    const rest = owed.get(id) ?? { back: 0, unposted: 0 };
    owed.set(id, { back: rest.back + remaining, unposted: rest.unposted + unposted });
  }
  // In one order, so that two that do this at once do not wait for each other in a circle.
  for (const [id, rest] of [...owed].sort(([left], [right]) => left - right))
    await giveBack(trx, id, rest, now);
  return gone.length;
}

/** What comes back of leases, and what has left them for tasks that their key does not know of yet. */
interface Rest {
  back: number;
  unposted: number;
}

/** Of a deleted key it goes on to the one that its quota came from. */
async function giveBack(
  trx: Kysely<Database>,
  tokenId: number,
  { back, unposted }: Rest,
  now: number,
): Promise<void> {
  const token = await move(trx, tokenId, { remain: back, leased: -back - unposted })
    .returning(['deleted_at', 'funder_id'])
    .modifyEnd(kept)
    .executeTakeFirst();
  if (token !== undefined && token.deleted_at !== null && token.funder_id !== null)
    await returnLeftover(trx, tokenId, now);
}

function move(
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

/** The update that changes nothing locks the row, so that it stays what it says. */
function lockLease(trx: Kysely<Database>, id: string) {
  return trx
    .updateTable('quota_leases')
    .set((row) => ({ remaining: row.ref('remaining') }))
    .where('id', '=', id)
    .returning(['token_id', 'remaining', 'unposted', 'epoch', 'draining'])
    .modifyEnd(kept)
    .executeTakeFirst();
}

function lockToken(trx: Kysely<Database>, id: number) {
  const now = databaseClock(trx);
  // A clock that was set back must not keep it so for long.
  const exact = sql<number>`case when exact_until > ${now} and exact_until <= ${now} + ${sql.lit(exactMs)}
    then 1 else 0 end`;
  return trx
    .updateTable('tokens')
    .set((row) => ({ used_quota: row.ref('used_quota') }))
    .where('id', '=', id)
    .returning(['remain_quota', 'unlimited_quota', 'status', 'deleted_at', 'lease_epoch', exact.as('exact')])
    .modifyEnd(kept)
    .executeTakeFirst();
}

/** Epoch milliseconds by the one clock that all gateways share. */
function databaseClock(db: Kysely<Database>): RawBuilder<number> {
  return isPostgres(db)
    ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}
