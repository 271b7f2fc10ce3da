import type { Db, VerificationSessionsTable } from '../schema.ts';
import { isSeen, type Viewer } from './visibility.ts';

/** Finds a session that the viewer sees. */
export function findVerificationSession(
  db: Db,
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

/** Finds the asset group of a verified person. Undefined when the viewer sees no such session. */
export async function findVerifiedGroup(
  db: Db,
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
