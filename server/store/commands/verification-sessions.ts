import { sql } from 'kysely';
import type { Db, VerificationSessionsTable } from '../schema.ts';
import { affectsRow, countAffected } from '../statement.ts';

/** Inserts a session. False when the id exists already, for any user. */
export function saveVerificationSession(trx: Db, session: VerificationSessionsTable): Promise<boolean> {
  const insert = trx.insertInto('verification_sessions').values(session);
  const ignored = insert.onConflict((conflict) => conflict.doNothing());
  return affectsRow(trx, ignored);
}

/** Result of a session. `group`: the asset group that the provider created for the verified person. */
export type VerificationEnd =
  | { status: 'verified'; resultCode: number; group: { id: string; upstreamId: string } | undefined }
  | { status: 'failed'; resultCode: number | undefined }
  | { status: 'expired' };

/** Records the result of a session. False when it has a result already, which remains. */
export function finishVerificationSession(
  trx: Db,
  { sessionId, end, now }: { sessionId: string; end: VerificationEnd; now: number },
): Promise<boolean> {
  const group = 'group' in end ? end.group : undefined;
  const update = trx
    .updateTable('verification_sessions')
    .set({
      status: end.status,
      result_code: ('resultCode' in end ? end.resultCode : undefined) ?? null,
      group_id: group?.id ?? null,
      upstream_group_id: group?.upstreamId ?? null,
      updated_at: now,
    })
    .where('session_id', '=', sessionId)
    .where('status', '=', 'pending');
  return affectsRow(trx, update);
}

/** Deletes up to `limit` sessions without an asset group that ended before a time. Returns how many. */
export function sweepVerificationSessions(
  trx: Db,
  { endedBefore, limit }: { endedBefore: number; limit: number },
): Promise<number> {
  // A pending session has ended if it has expired. The second condition on the group holds back a session that is verified meanwhile.
  const sweep = sql`
    delete from verification_sessions where group_id is null and session_id in (
      select session_id from verification_sessions
      where group_id is null and updated_at < ${endedBefore} and expires_at < ${endedBefore} limit ${limit})`;
  return countAffected(trx, sweep);
}
