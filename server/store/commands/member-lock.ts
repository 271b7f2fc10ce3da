import { sql } from 'kysely';
import { findMember, type MemberRecord } from '../queries/members.ts';
import type { Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';

export interface Member {
  userId: number;
  id: number;
}

/**
 * Locks a member, so that it keeps its role and is not removed while it gets a key. Members are locked before keys. Undefined: the
 * user has no such member.
 */
export async function lockMember(trx: Db, { userId, id }: Member): Promise<MemberRecord | undefined> {
  if (isPostgres(trx))
    await sql`select 1 from members where id = ${id} and user_id = ${userId} for update`.execute(trx);
  return findMember(trx, { userId, id });
}
