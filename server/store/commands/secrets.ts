import type { Command } from './command.ts';

/** The secret of that name, which is `value` if there was none: whoever asks gets the same one. */
export const ensureSecret: Command<{ name: string; value: string }, string> = async (trx, secret) => {
  await trx
    .insertInto('secrets')
    .values(secret)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const kept = await trx
    .selectFrom('secrets')
    .select('value')
    .where('name', '=', secret.name)
    .executeTakeFirstOrThrow();
  return kept.value;
};
