import type { Db } from '../schema.ts';

/** Returns the secret with a name, after inserting `value` if there was none. */
export async function ensureSecret(trx: Db, secret: { name: string; value: string }): Promise<string> {
  await trx
    .insertInto('secrets')
    .values(secret)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const query = trx.selectFrom('secrets').select('value').where('name', '=', secret.name);
  return (await query.executeTakeFirstOrThrow()).value;
}
