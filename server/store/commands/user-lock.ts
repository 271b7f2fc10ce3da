import { sql } from 'kysely';
import { payersOfUser } from '../queries/users.ts';
import type { Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';

/**
 * Locks a user, before keys. With `exclusive`, the user gets no key and no other budget until the end of the transaction.
 * Without it, several transactions can lock the user, but none exclusively. PostgreSQL locks a user `for key share` when a
 * transaction changes a key twice, after the lock of the key. Both modes allow that, since it would deadlock otherwise.
 */
export async function lockUser(trx: Db, id: number, mode: 'exclusive' | 'shared'): Promise<void> {
  if (!isPostgres(trx)) return;
  const strength = mode === 'exclusive' ? sql`for no key update` : sql`for share`;
  // A budget of the customer includes new keys of its sub-accounts.
  const ids = mode === 'exclusive' ? sql`(${id})` : payersOfUser(id);
  await sql`select 1 from users where id in ${ids} order by id ${strength}`.execute(trx);
}
