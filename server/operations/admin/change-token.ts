import type { Gateway } from '../../http/gateway.ts';
import { limitsRefused, scopeDenied, userNotAdmin } from '../../keys/admin-scope.ts';
import { notFound } from '../../lib/failure.ts';
import type { Intent } from '../../store/commands/changes.ts';
import type { TokenFields } from '../../store/commands/tokens.ts';
import type { TokenRecord } from '../../store/queries/tokens.ts';

/**
 * Changes a key. Its new limits apply on this gateway at once, on others within a second.
 *
 * @throws Failure 400, 403 or 404
 */
export async function changeToken(
  { store, keys }: Gateway,
  order: { id: number; set: TokenFields; change: Intent },
  request: object,
): Promise<TokenRecord> {
  const token = await store.run('updateToken', order);
  if (token === 'not_found') throw notFound('id', 'there is no such key.');
  if (token === 'scope_denied') throw scopeDenied();
  if (token === 'user_not_admin') throw userNotAdmin();
  if ('limits' in token) throw limitsRefused(token.limits, request);
  keys.invalidate({ tokenId: token.id });
  return token;
}
