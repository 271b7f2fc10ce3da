import type { Handler } from '../../http/handler.ts';
import { keyRefused } from '../../keys/key-cache.ts';
import { Failure } from '../../lib/failure.ts';
import { findToken, hasAdminAccess, hasLimits } from '../../store/queries/tokens.ts';
import { changeBy } from '../admin/admin-change.ts';

/**
 * Deletes a key of the caller's user and all keys that were created with it. From now on they hold no quota on any
 * gateway. This gateway refuses them at once, others within a second.
 */
export const deleteToken: Handler<'deleteToken'> = async ({ gateway, caller, path }, reply) => {
  const { store, keys } = gateway;
  const own = await findToken(store.read, caller.tokenId);
  if (own === undefined) throw keyRefused();
  const { id } = path;
  // A key that was handed out with a limit must not take away those of its owner.
  const by = hasLimits(own) ? own.id : null;
  const isAdmin = hasAdminAccess(own);
  if (by === null && !isAdmin && id !== own.id) {
    const other = await findToken(store.read, id);
    // Else a key without admin access could lock the operator out.
    if (other?.userId === own.userId && other.adminScope)
      throw new Failure(
        403,
        'access_denied',
        'id: only a key with the scope admin can delete one with this scope.',
      );
  }
  const now = gateway.clock();
  const outcome = await store.run('deleteToken', {
    id,
    userId: own.userId,
    by,
    now,
    ...(isAdmin && { change: { ...changeBy({ gateway, caller }, 'deleteToken'), details: {} } }),
  });
  if (outcome === 'not_found') throw new Failure(404, 'resource_not_found', 'id: there is no such key.');
  keys.invalidate({ tokenId: id });
  reply.json(200, { success: true, message: '' });
};
