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
