import { type RawBuilder, sql } from 'kysely';
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

interface AncestorRow {
  makerId: number;
  id: number;
  status: number;
  deletedAt: number | null;
  expiredTime: number;
}

/** Finds the lineages of keys by the id of the key that created them, which is the first ancestor. */
export async function findLineages(db: Db, makerIds: readonly number[]): Promise<Map<number, Lineage>> {
  if (makerIds.length === 0) return new Map();
  const { rows } = await sql<AncestorRow>`
    with recursive line (first_id, id, maker_id, status, deleted_at, expired_time, depth) as (
      select id, id, maker_id, status, deleted_at, expired_time, 1 from tokens where id in (${sql.join(makerIds)})
      union all
      select line.first_id, t.id, t.maker_id, t.status, t.deleted_at, t.expired_time, line.depth + 1
        from tokens t join line on t.id = line.maker_id
    )
    select first_id as "makerId", id, status, deleted_at as "deletedAt", expired_time as "expiredTime"
    from line order by depth`.execute(db);
  const lineages = new Map<number, Lineage>();
  for (const { makerId, ...ancestor } of rows)
    lineages.set(makerId, extended(lineages.get(makerId) ?? noLineage, ancestor));
  return lineages;
}

function extended(lineage: Lineage, { id, status, deletedAt, expiredTime }: Omit<AncestorRow, 'makerId'>) {
  return {
    ancestorIds: [...lineage.ancestorIds, id],
    isCutOff: lineage.isCutOff || status !== 1 || deletedAt !== null,
    expiredTime: earliest(lineage.expiredTime, expiredTime),
  };
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

/** Ids of keys with an ancestor for which `isEnded` holds, a condition on `m`. */
export const descendantsOfEnded = (isEnded: RawBuilder<unknown>): RawBuilder<number> => sql`(
  with recursive ended (id) as (
    select c.id from tokens c join tokens m on m.id = c.maker_id where ${isEnded}
    union
    select c.id from tokens c join ended on c.maker_id = ended.id
  )
  select id from ended)`;
