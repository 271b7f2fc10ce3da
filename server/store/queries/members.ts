import { type RawBuilder, type Selectable, sql } from 'kysely';
import { oneOf } from '../rows.ts';
import type { Db, MemberRole, MembersTable } from '../schema.ts';

/** A member of a user, who has keys with the rights of a role. */
export interface MemberRecord {
  id: number;
  userId: number;
  name: string;
  role: MemberRole;
  /** Keys that are not deleted. */
  keys: number;
  /** Epoch milliseconds. */
  createdAt: number;
}

type Row = Pick<Selectable<MembersTable>, 'id' | 'name' | 'role'> &
  Record<'user_id' | 'created_at' | 'keys', number>;

/** Lists the members of a user, the oldest first. */
export async function listMembers(db: Db, userId: number, id?: number): Promise<MemberRecord[]> {
  const only = id === undefined ? sql`` : sql`and m.id = ${id}`;
  const { rows } = await sql<Row>`
    select m.id, m.user_id, m.name, m.role, m.created_at, (
      select count(*) from tokens t where t.member_id = m.id and t.deleted_at is null
    ) as keys
    from members m where m.user_id = ${userId} and m.removed_at is null ${only} order by m.id`.execute(db);
  return rows.map(({ user_id: userId, created_at: createdAt, ...member }) => {
    return { ...member, userId, createdAt };
  });
}

/** Finds a member of a user. */
export async function findMember(
  db: Db,
  { userId, id }: { userId: number; id: number },
): Promise<MemberRecord | undefined> {
  return (await listMembers(db, userId, id))[0];
}

/** Ids of the keys of a member, including deleted ones. */
export const keysOfMember = (memberId: number): RawBuilder<number> =>
  sql`(select id from tokens where member_id = ${memberId})`;

/** Reads the names of members by their ids, also of removed ones. */
export async function memberNames(db: Db, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('members')
    .select(['id', 'name'])
    .where(oneOf(db, sql.ref('id'), ids))
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
