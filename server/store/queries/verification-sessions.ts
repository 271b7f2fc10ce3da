import type { Kysely } from 'kysely';
import type { Database, VerificationSessionsTable } from '../schema.ts';

/** A user's own session; those of others are not there. */
export function findVerificationSession(
  db: Kysely<Database>,
  { sessionId, userId }: { sessionId: string; userId: number },
): Promise<VerificationSessionsTable | undefined> {
  return db
    .selectFrom('verification_sessions')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** Where the group of a person is that a user has had verified; undefined when it is no such group. */
export async function findVerifiedGroup(
  db: Kysely<Database>,
  { groupId, userId }: { groupId: string; userId: number },
): Promise<{ channel: string; upstreamId: string } | undefined> {
  const row = await db
    .selectFrom('verification_sessions')
    .select(['channel', 'upstream_group_id as upstreamId'])
    .where('user_id', '=', userId)
    .where('group_id', '=', groupId)
    .executeTakeFirst();
  if (row === undefined || row.upstreamId === null) return undefined;
  return { channel: row.channel, upstreamId: row.upstreamId };
}
