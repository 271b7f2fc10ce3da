import { sql } from 'kysely';
import type { Db, VoicesTable } from '../schema.ts';
import { affectsRow } from '../statement.ts';

/** Inserts a voice. False when the id exists already, for any user. */
export function saveVoice(trx: Db, voice: VoicesTable): Promise<boolean> {
  const insert = trx.insertInto('voices').values(voice);
  const ignored = insert.onConflict((conflict) => conflict.doNothing());
  return affectsRow(trx, ignored);
}

/** Records the status of a voice, and new facts. With `from`, only if that is the former status. */
export function updateVoice(
  trx: Db,
  voice: { voiceId: string; userId: number; from?: string; status: string; facts?: string; now: number },
): Promise<boolean> {
  const { voiceId, userId, from, status, facts, now } = voice;
  const update = trx
    .updateTable('voices')
    .set({ status, ...(facts !== undefined && { facts }), updated_at: now })
    .where('voice_id', '=', voiceId)
    .where('user_id', '=', userId);
  return affectsRow(trx, from === undefined ? update : update.where('status', '=', from));
}

export function deleteVoice(trx: Db, { voiceId, userId }: { voiceId: string; userId: number }) {
  return affectsRow(trx, sql`delete from voices where voice_id = ${voiceId} and user_id = ${userId}`);
}
