import type { Db } from '../schema.ts';
import { affectsRow } from '../statement.ts';
import { type NewChange, recordChange } from './changes.ts';

/** Disables a channel, or changes the reason of a disabled one. */
export async function disableChannel(
  trx: Db,
  { channel, reason, change }: { channel: string; reason: string; change: NewChange },
): Promise<void> {
  const state = { user_id: change.userId, reason, disabled_at: change.now };
  await trx
    .insertInto('channel_states')
    .values({ channel, ...state })
    .onConflict((conflict) => conflict.column('channel').doUpdateSet(state))
    .execute();
  await recordChange(trx, change);
}

/** Enables a channel. False when it was not disabled, in which case no change is recorded. */
export async function enableChannel(trx: Db, { channel, change }: { channel: string; change: NewChange }) {
  if (!(await affectsRow(trx, trx.deleteFrom('channel_states').where('channel', '=', channel)))) return false;
  await recordChange(trx, change);
  return true;
}
