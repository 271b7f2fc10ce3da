import { sql } from 'kysely';
import { lineOf } from '../queries/lineage.ts';
import { findToken, hasAdminAccess } from '../queries/tokens.ts';
import type { Db } from '../schema.ts';

/** Whether a key can give the scope `admin` to a key. Reads the database, since a gateway's cache can be stale. */
export async function canGiveAdminScope(trx: Db, tokenId: number): Promise<boolean> {
  const token = await findToken(trx, tokenId);
  return token !== undefined && token.status === 1 && !token.lineage.isCutOff && hasAdminAccess(token);
}

/** Whether a key and each of its ancestors has the right to create keys. Deleted ancestors count, so that a deletion gives no right. */
export async function hasCreationRight(trx: Db, tokenId: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${lineOf(tokenId)} as line where create_keys = 0 limit 1`.execute(trx);
  return rows.length === 0;
}
