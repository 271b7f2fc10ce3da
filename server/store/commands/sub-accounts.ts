import { hasCreationRight } from '../queries/lineage.ts';
import type { TokenRecord } from '../queries/tokens.ts';
import type { UserRecord } from '../queries/users.ts';
import type { Db } from '../schema.ts';
import { countRows } from '../statement.ts';
import { createToken, type NewToken } from './accounts.ts';
import { lockToken } from './balances.ts';
import type { Creation, Intent } from './changes.ts';
import { lockUser } from './user-lock.ts';
import { changeUser, type UserFields } from './users.ts';

/** A sub-account and the customer that changes it. */
interface SubAccount {
  id: number;
  parentId: number;
}

/** Changes a sub-account for its customer. */
export async function updateSubAccount(
  trx: Db,
  { id, parentId, set, change }: SubAccount & { set: Pick<UserFields, 'name' | 'disabled'>; change: Intent },
): Promise<UserRecord | 'not_found' | 'last_admin' | 'disabled_by_operator'> {
  if (!(await isSubAccount(trx, { id, parentId }))) return 'not_found';
  return changeUser(trx, { id, set, change, isCustomer: true });
}

interface NewSubAccountToken {
  parentId: number;
  /** The user is the sub-account. */
  token: NewToken;
  /** The key of the customer that creates it. */
  creatorId: number;
  /** Largest number of live keys of the sub-account that were not created with another one. 0: no limit. */
  maxKeys: number;
  change: Creation;
}

/** Creates a key of a sub-account for its customer. */
export async function createSubAccountToken(
  trx: Db,
  { parentId, token, creatorId, maxKeys, change }: NewSubAccountToken,
): Promise<TokenRecord | 'not_found' | 'creator_gone' | 'creation_denied' | 'too_many_keys'> {
  const { userId: id } = token;
  if (!(await isSubAccount(trx, { id, parentId }))) return 'not_found';
  // The customer has the lower id. Other transactions lock both in the order of their ids.
  await lockUser(trx, parentId, 'shared');
  await lockUser(trx, id, 'exclusive');
  // Prevents that the creating key loses its rights meanwhile.
  await lockToken(trx, creatorId);
  if (!(await isUsable(trx, creatorId))) return 'creator_gone';
  if (!(await hasCreationRight(trx, creatorId))) return 'creation_denied';
  if (maxKeys > 0 && (await countOwnKeys(trx, id)) >= maxKeys) return 'too_many_keys';
  return createToken(trx, { ...token, change });
}

/** The parent of a user never changes, so that no lock is necessary. */
async function isSubAccount(trx: Db, { id, parentId }: SubAccount): Promise<boolean> {
  return (
    (await countRows(trx.selectFrom('users').where('id', '=', id).where('parent_id', '=', parentId))) > 0
  );
}

async function isUsable(trx: Db, tokenId: number): Promise<boolean> {
  const token = trx.selectFrom('tokens').where('id', '=', tokenId);
  return (await countRows(token.where('status', '=', 1).where('deleted_at', 'is', null))) > 0;
}

/** Counts the live keys of a user that were not created with another one. */
function countOwnKeys(trx: Db, userId: number): Promise<number> {
  const tokens = trx.selectFrom('tokens').where('user_id', '=', userId).where('deleted_at', 'is', null);
  return countRows(tokens.where('maker_id', 'is', null));
}
