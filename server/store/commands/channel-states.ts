import { type NewChange, recordChange } from './changes.ts';
import type { Command } from './command.ts';

/** Takes a channel out, or gives a new reason for one that is out. */
export const disableChannel: Command<{ channel: string; reason: string; change: NewChange }, void> = async (
  trx,
  { channel, reason, change },
) => {
  const state = { user_id: change.userId, reason, disabled_at: change.now };
  await trx
    .insertInto('channel_states')
    .values({ channel, ...state })
    .onConflict((conflict) => conflict.column('channel').doUpdateSet(state))
    .execute();
  await recordChange(trx, change);
};

/** Puts a channel back. Gives whether it was out; only then something is recorded. */
export const enableChannel: Command<{ channel: string; change: NewChange }, boolean> = async (
  trx,
  { channel, change },
) => {
  const { numDeletedRows } = await trx
    .deleteFrom('channel_states')
    .where('channel', '=', channel)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  await recordChange(trx, change);
  return true;
};
