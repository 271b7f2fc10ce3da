import { sql } from 'kysely';
import type { Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';

/**
 * Locks a user, before keys. With `exclusive`, the user gets no key and no other budget until the end of the transaction.
 * Without it, several transactions can lock the user, but none exclusively.
 */
export async function lockUser(trx: Db, id: number, mode: 'exclusive' | 'shared'): Promise<void> {
  if (!isPostgres(trx)) return;
  const strength = mode === 'exclusive' ? sql`for update` : sql`for key share`;
  await sql`select 1 from users where id = ${id} ${strength}`.execute(trx);
}
