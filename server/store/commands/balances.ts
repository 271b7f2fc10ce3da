import { type RawBuilder, sql } from 'kysely';
import { leftOf } from '../queries/leases.ts';
import type { Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';

/** The available quota of a key, at least 0. `leftOf` is below 0 if a wallet paid for work beyond the limit of the key. */
export const availableQuota: RawBuilder<number> = sql`
  case when ${leftOf('tokens')} > 0 then ${leftOf('tokens')} else 0 end`;

/** Reads the available quota and the debt of a key. */
export function balanceOf(trx: Db, id: number) {
  return trx
    .selectFrom('tokens')
    .select([availableQuota.as('left'), 'debt', 'deleted_at', 'funder_id', 'wallet_id'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Locks a key with an update that changes nothing, so that it stays as it is read. */
export function lockToken(trx: Db, id: number) {
  return trx
    .updateTable('tokens')
    .set((row) => ({ used_quota: row.ref('used_quota') }))
    .where('id', '=', id)
    .returning(['remain_quota', 'debt', 'funder_id'])
    .executeTakeFirst();
}

/** Ids of the keys that match a condition, locked in the order of ids, so that updates of several keys do not deadlock. */
export const lockedKeys = (trx: Db, condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select id from tokens where ${condition} order by id ${isPostgres(trx) ? sql`for no key update` : sql``})`;
