import { type RawBuilder, sql } from 'kysely';
import { oneOf } from '../rows.ts';
import type { Db } from '../schema.ts';

/** The keys that a key was created with, directly or through others. The key works only while all of them do. */
export interface Lineage {
  /** Their ids, the creator of the key first. */
  readonly ancestorIds: readonly number[];
  /** Whether one of them is disabled or deleted. */
  readonly isCutOff: boolean;
  /** The earliest expiry among them, in Unix seconds; -1: never. */
  readonly expiredTime: number;
}

export const noLineage: Lineage = { ancestorIds: [], isCutOff: false, expiredTime: -1 };

/** Finds the lineages of keys by the id of the key that created them, which is the first ancestor. */
export async function findLineages(db: Db, makerIds: readonly number[]): Promise<Map<number, Lineage>> {
  if (makerIds.length === 0) return new Map();
  const { rows } = await sql<Record<'makerId' | 'id' | 'isUsable' | 'expiredTime', number>>`
    with recursive line (first_id, id, maker_id, status, deleted_at, expired_time, depth) as (
      select id, id, maker_id, status, deleted_at, expired_time, 1 from tokens where id in (${sql.join(makerIds)})
      union all
      select line.first_id, t.id, t.maker_id, t.status, t.deleted_at, t.expired_time, line.depth + 1
        from tokens t join line on t.id = line.maker_id
    )
    select first_id as "makerId", id, case when status = 1 and deleted_at is null then 1 else 0 end as "isUsable",
      expired_time as "expiredTime"
    from line order by depth`.execute(db);
  const lineages = new Map<number, Lineage>();
  for (const { makerId, id, isUsable, expiredTime } of rows) {
    const { ancestorIds, isCutOff, expiredTime: earlier } = lineages.get(makerId) ?? noLineage;
    lineages.set(makerId, {
      ancestorIds: [...ancestorIds, id],
      isCutOff: isCutOff || isUsable === 0,
      expiredTime: earliest(earlier, expiredTime),
    });
  }
  return lineages;
}

/** Returns the earlier of two expiries in Unix seconds, of which -1 means never. */
export function earliest(one: number, other: number): number {
  if (one === -1) return other;
  return other === -1 ? one : Math.min(one, other);
}

/** Ids of a key and its descendants, including deleted ones. */
export const familyOf = (tokenId: number): RawBuilder<number> => sql`(
  with recursive family (id) as (
    select cast(${tokenId} as bigint)
    union
    select t.id from tokens t join family on t.maker_id = family.id
  )
  select id from family)`;

/** Ids of keys and their descendants, including deleted ones. */
export const familiesOf = (db: Db, tokenIds: readonly number[]): RawBuilder<number> => sql`(
  with recursive family (id) as (
    select id from tokens where ${oneOf(db, sql`id`, tokenIds)}
    union
    select t.id from tokens t join family on t.maker_id = family.id
  )
  select id from family)`;

/** Ids of the keys that a key with limits sees: its family, or for a session key all keys of its member. */
export const seenBy = (tokenId: number): RawBuilder<number> => sql`(
  with recursive seen (id) as (
    select cast(${tokenId} as bigint)
    union
    select t.id from tokens s join tokens t on t.member_id = s.member_id where s.id = ${tokenId} and s.session = 1
    union
    select t.id from tokens t join seen on t.maker_id = seen.id
  )
  select id from seen)`;

/** Ids of keys with an ancestor for which `isEnded` holds, a condition on `m`. */
export const descendantsOfEnded = (isEnded: RawBuilder<unknown>): RawBuilder<number> => sql`(
  with recursive ended (id) as (
    select c.id from tokens c join tokens m on m.id = c.maker_id where ${isEnded}
    union
    select c.id from tokens c join ended on c.maker_id = ended.id
  )
  select id from ended)`;

/** A key and its ancestors, including deleted ones. */
export const lineOf = (tokenId: number): RawBuilder<unknown> => sql`(
  with recursive line (id, maker_id, create_keys) as (
    select id, maker_id, create_keys from tokens where id = ${tokenId}
    union
    select t.id, t.maker_id, t.create_keys from tokens t join line on t.id = line.maker_id
  )
  select * from line)`;

/** Whether a key and each of its ancestors has the right to create keys. Deleted ancestors count, so that a deletion gives no right. */
export async function hasCreationRight(db: Db, tokenId: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${lineOf(tokenId)} as line where create_keys = 0 limit 1`.execute(db);
  return rows.length === 0;
}
