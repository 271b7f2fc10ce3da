import type { Handler } from '../../http/handler.ts';
import { requireDeletionRight } from '../../keys/admin-scope.ts';
import { keyRefused } from '../../keys/key-cache.ts';
import { notFound } from '../../lib/failure.ts';
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
  await requireDeletionRight(store, own, id);
  const change = { ...changeBy({ gateway, caller }, 'deleteToken'), details: {} };
  const outcome = await store.run('deleteToken', {
    id,
    userId: own.userId,
    // A key with limits must not delete the keys of its owner.
    by: hasLimits(own) ? own.id : null,
    now: change.now,
    ...(hasAdminAccess(own) && { change }),
  });
  if (outcome === 'not_found') throw notFound('id', 'there is no such key.');
  keys.invalidate({ tokenId: id });
  reply.json(200, { success: true, message: '' });
};
