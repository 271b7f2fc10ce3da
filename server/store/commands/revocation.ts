import { type Kysely, sql } from 'kysely';
import { familyOf } from '../queries/lineage.ts';
import type { Database } from '../schema.ts';
import { grant } from './accounts.ts';

/**
 * Deletes a key with all keys that were created with it, directly or through others, and returns the quota that they have
 * left to the keys that it was taken from. Returns the ids of the deleted keys; none when the key does not exist.
 */
export async function removeFamily(trx: Kysely<Database>, id: number, now: number): Promise<number[]> {
  const removed: number[] = [];
  let live = await liveFamily(trx, id);
  if (!live.includes(id)) return [];
  // A key can be created until its creator is marked, so the family is read again until nothing is left.
  while (live.length > 0) {
    for (const one of live) if (await markDeleted(trx, one, now)) removed.push(one);
    live = await liveFamily(trx, id);
  }
  if (!removed.includes(id)) return [];
  // A key is younger than its creator, so that quota moves up the whole chain.
  for (const one of removed.toSorted((left, right) => right - left)) await returnLeftover(trx, one, now);
  return removed;
}

/** The youngest first: all commands lock a key before the key that it was created with. */
async function liveFamily(trx: Kysely<Database>, id: number): Promise<number[]> {
  const rows = await trx
    .selectFrom('tokens')
    .select('id')
    .where('deleted_at', 'is', null)
    .where('id', 'in', familyOf(id))
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => row.id);
}

async function markDeleted(trx: Kysely<Database>, id: number, now: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('tokens')
    .set((row) => ({ deleted_at: now, lease_epoch: row('lease_epoch', '+', 1) }))
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Makes the live keys that were created with a key children of that key's own creator. They may create keys only if it
 * may. Returns their ids.
 */
export async function adoptChildren(trx: Kysely<Database>, id: number): Promise<number[]> {
  const key = await trx
    .selectFrom('tokens')
    .select(['maker_id', 'create_keys'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (key === undefined) return [];
  const moved = await trx
    .updateTable('tokens')
    .set({ maker_id: key.maker_id, ...(key.create_keys === 0 && { create_keys: 0 as const }) })
    .where('maker_id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .execute();
  return moved.map((row) => row.id).toSorted((left, right) => left - right);
}

/** Locks a key with an update that changes nothing, so that it stays as it is read. */
export function lockToken(trx: Kysely<Database>, id: number) {
  return trx
    .updateTable('tokens')
    .set((row) => ({ used_quota: row.ref('used_quota') }))
    .where('id', '=', id)
    .returning(['remain_quota', 'funder_id'])
    .executeTakeFirst();
}

/** Moves the quota that a key has left to the key that it was taken from, if there is one. */
export async function returnLeftover(trx: Kysely<Database>, id: number, now: number): Promise<void> {
  const left = await lockToken(trx, id);
  if (left === undefined) throw new Error('the key is not there whose quota goes back');
  const { remain_quota: amount, funder_id: to } = left;
  if (to === null || amount <= 0) return;
  await addQuota(trx, id, -amount);
  await addQuota(trx, to, amount);
  await recordMove(trx, { from: id, to, amount, now });
}

async function addQuota(trx: Kysely<Database>, id: number, amount: number): Promise<void> {
  await trx
    .updateTable('tokens')
    .set((row) => ({ remain_quota: row('remain_quota', '+', amount) }))
    .where('id', '=', id)
    .execute();
}

export async function recordMove(
  trx: Kysely<Database>,
  { from, to, amount, now }: { from: number; to: number; amount: number; now: number },
): Promise<void> {
  await trx
    .insertInto('grants')
    .values([grant(from, -amount, now, to), grant(to, amount, now, from)])
    .execute();
}

/** Reports whether a key is `ancestor`, or was created with it, directly or through others. */
export async function isInFamily(trx: Kysely<Database>, id: number, ancestor: number): Promise<boolean> {
  const { rows } = await sql`
    with recursive line (id, maker_id) as (
      select id, maker_id from tokens where id = ${id}
      union
      select t.id, t.maker_id from tokens t join line on t.id = line.maker_id
    )
    select 1 from line where id = ${ancestor}`.execute(trx);
  return rows.length > 0;
}
