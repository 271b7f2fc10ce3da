import type { VoicesTable } from '../schema.ts';
import type { Command } from './command.ts';

/** False when a voice of that id is there already, whoever owns it. */
export const saveVoice: Command<VoicesTable, boolean> = async (trx, voice) => {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('voices')
    .values(voice)
    .onConflict((conflict) => conflict.column('voice_id').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
};

/** Notes a new status, and new facts if there are any; with `from` only if that is the status before. */
export const updateVoice: Command<
  { voiceId: string; userId: number; from?: string; status: string; facts?: string; now: number },
  boolean
> = async (trx, { voiceId, userId, from, status, facts, now }) => {
  const { numUpdatedRows } = await trx
    .updateTable('voices')
    .set({ status, ...(facts !== undefined && { facts }), updated_at: now })
    .where('voice_id', '=', voiceId)
    .where('user_id', '=', userId)
    .$if(from !== undefined, (query) => query.where('status', '=', String(from)))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
};

export const deleteVoice: Command<{ voiceId: string; userId: number }, boolean> = async (
  trx,
  { voiceId, userId },
) => {
  const { numDeletedRows } = await trx
    .deleteFrom('voices')
    .where('voice_id', '=', voiceId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
};
