import type { Kysely } from 'kysely';
import type { Database, VerificationSessionsTable } from '../schema.ts';
import { isSeen, type Viewer } from './visibility.ts';

/** A session that the viewer sees; others do not exist. */
export function findVerificationSession(
  db: Kysely<Database>,
  { sessionId, ...viewer }: { sessionId: string } & Viewer,
): Promise<VerificationSessionsTable | undefined> {
  return db
    .selectFrom('verification_sessions')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('user_id', '=', viewer.userId)
    .where(isSeen(viewer, 'verification_sessions.token_id'))
    .executeTakeFirst();
}

/** Where the group of a verified person is; undefined when the viewer sees no such session. */
export async function findVerifiedGroup(
  db: Kysely<Database>,
  { groupId, ...viewer }: { groupId: string } & Viewer,
): Promise<{ channel: string; upstreamId: string } | undefined> {
  const row = await db
    .selectFrom('verification_sessions')
    .select(['channel', 'upstream_group_id as upstreamId'])
    .where('user_id', '=', viewer.userId)
    .where('group_id', '=', groupId)
    .where(isSeen(viewer, 'verification_sessions.token_id'))
    .executeTakeFirst();
  if (row === undefined || row.upstreamId === null) return undefined;
  return { channel: row.channel, upstreamId: row.upstreamId };
}
