import { findToken, hasAdminAccess } from '../queries/tokens.ts';
import type { Db } from '../schema.ts';

/** Whether a key can give the scope `admin` to a key. Reads the database, since a gateway's cache can be stale. */
export async function canGiveAdminScope(trx: Db, tokenId: number): Promise<boolean> {
  const token = await findToken(trx, tokenId);
  return token !== undefined && token.status === 1 && !token.lineage.isCutOff && hasAdminAccess(token);
}
