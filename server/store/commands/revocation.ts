import { type RawBuilder, sql } from 'kysely';
import { familiesOf, lineOf } from '../queries/lineage.ts';
import { oneOf } from '../rows.ts';
import type { Db } from '../schema.ts';
import { affectsRow, isPostgres } from '../statement.ts';
import { grant } from './accounts.ts';
import { lockToken } from './balances.ts';

/** Deletes keys with their descendants and returns their quota to their funders. Returns the deleted ids, none without such keys. */
export async function removeFamilies(trx: Db, ids: readonly number[], now: number): Promise<number[]> {
  await lockWithFunders(trx, await liveFamilies(trx, ids));
  // Another transaction may have deleted a key before, and moved its children out of the family.
  const roots = await liveOf(trx, oneOf(trx, sql`id`, ids));
  const removed: number[] = [];
  // A key can create others until it is locked, so the families are read again until they are empty.
  let live = await liveFamilies(trx, roots);
  while (live.length > 0) {
    for (const one of live) if (await markDeleted(trx, one, now)) removed.push(one);
    live = await liveFamilies(trx, roots);
  }
  // A key is younger than its creator. The descending order returns quota up the complete chain.
  for (const one of removed.toSorted((left, right) => right - left)) await returnLeftover(trx, one, now);
  return removed;
}

/** Ids of keys and their descendants that are not deleted. */
const liveFamilies = (trx: Db, ids: readonly number[]) => liveOf(trx, sql`id in ${familiesOf(trx, ids)}`);

async function liveOf(trx: Db, condition: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from tokens where deleted_at is null and ${condition} order by id`.execute(trx);
  return rows.map((row) => row.id);
}

/** Locks keys and their funders in the order of ids. A funder is older than its keys. `deletedOnly`: only the funders of deleted keys. */
export async function lockWithFunders(
  trx: Db,
  ids: readonly number[],
  { deletedOnly = false }: { deletedOnly?: boolean } = {},
): Promise<void> {
  if (!isPostgres(trx) || ids.length === 0) return;
  await sql`
    select 1 from tokens where id = any(${ids}) or id in (
      select funder_id from tokens where id = any(${ids}) ${deletedOnly ? sql`and deleted_at is not null` : sql``})
    order by id for no key update`.execute(trx);
}

function markDeleted(trx: Db, id: number, now: number): Promise<boolean> {
  const update = sql`
    update tokens set deleted_at = ${now}, lease_epoch = lease_epoch + 1 where id = ${id} and deleted_at is null`;
  return affectsRow(trx, update);
}

/** Moves the live children of a key to its own creator. They keep the right to create keys only if the key has it. Returns their ids. */
export async function adoptChildren(trx: Db, id: number): Promise<number[]> {
  // The lock of the key also prevents that it creates others meanwhile.
  const children = await liveOf(trx, sql`maker_id = ${id}`);
  await lockWithFunders(trx, [id, ...children]);
  const { rows } = await sql<{ id: number }>`
    update tokens set maker_id = parent.maker_id,
      create_keys = case when parent.create_keys = 0 then 0 else tokens.create_keys end
    from (select maker_id, create_keys from tokens where id = ${id}) as parent
    where tokens.maker_id = ${id} and tokens.deleted_at is null returning tokens.id`.execute(trx);
  return rows.map((row) => row.id).toSorted((left, right) => left - right);
}

/** Returns the remaining quota of a key to its funder, if it has one. The caller has locked both with `lockWithFunders`. */
export async function returnLeftover(trx: Db, id: number, now: number): Promise<void> {
  const token = await lockToken(trx, id);
  if (token === undefined) throw new Error(`key ${id} does not exist`);
  const { remain_quota: amount, funder_id: to } = token;
  if (to === null || amount <= 0) return;
  await addQuota(trx, id, -amount);
  await addQuota(trx, to, amount);
  await recordMove(trx, { from: id, to, amount, now });
}

async function addQuota(trx: Db, id: number, amount: number): Promise<void> {
  await sql`update tokens set remain_quota = remain_quota + ${amount} where id = ${id}`.execute(trx);
}

export async function recordMove(
  trx: Db,
  { from, to, amount, now }: { from: number; to: number; amount: number; now: number },
): Promise<void> {
  await trx
    .insertInto('grants')
    .values([grant(from, -amount, now, to), grant(to, amount, now, from)])
    .execute();
}

/** Whether a key is `ancestor` or one of its descendants, or `ancestor` is the session key of the member who has one of these. */
export async function isInFamily(trx: Db, id: number, ancestor: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${lineOf(id)} as line where id = ${ancestor} or id in (
      select t.id from tokens s join tokens t on t.member_id = s.member_id where s.id = ${ancestor} and s.session = 1
    )`.execute(trx);
  return rows.length > 0;
}
