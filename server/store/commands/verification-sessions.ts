import type { VerificationSessionsTable } from '../schema.ts';
import type { Command } from './command.ts';

/** False when there is a session of that id already, whoever owns it. */
export const saveVerificationSession: Command<VerificationSessionsTable, boolean> = async (trx, session) => {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('verification_sessions')
    .values(session)
    .onConflict((conflict) => conflict.column('session_id').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
};

/** How a session ended. `group` is there where the provider made one for the verified person. */
export type VerificationEnd =
  | { status: 'verified'; resultCode: number; group: { id: string; upstreamId: string } | undefined }
  | { status: 'failed'; resultCode: number | undefined }
  | { status: 'expired' };

/** Ends a session. False when it has ended before: the first end stays. */
export const finishVerificationSession: Command<
  { sessionId: string; end: VerificationEnd; now: number },
  boolean
> = async (trx, { sessionId, end, now }) => {
  const { numUpdatedRows } = await trx
    .updateTable('verification_sessions')
    .set({
      status: end.status,
      result_code: ('resultCode' in end ? end.resultCode : undefined) ?? null,
      group_id: ('group' in end ? end.group?.id : undefined) ?? null,
      upstream_group_id: ('group' in end ? end.group?.upstreamId : undefined) ?? null,
      updated_at: now,
    })
    .where('session_id', '=', sessionId)
    .where('status', '=', 'pending')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
};

/**
 * Forgets at the most `limit` sessions that have ended before a time, and says how many. A verified person's stays, since
 * uploads name its group.
 */
export const sweepVerificationSessions: Command<{ endedBefore: number; limit: number }, number> = async (
  trx,
  { endedBefore, limit },
) => {
  const { numDeletedRows } = await trx
    .deleteFrom('verification_sessions')
    .where('session_id', 'in', (db) =>
      db
        .selectFrom('verification_sessions')
        .select('session_id')
        .where('group_id', 'is', null)
        .where('updated_at', '<', endedBefore)
        // One whose end nobody has asked about is over by then.
        .where('expires_at', '<', endedBefore)
        .limit(limit),
    )
    // It may be verified at this moment.
    .where('group_id', 'is', null)
    .executeTakeFirst();
  return Number(numDeletedRows);
};
