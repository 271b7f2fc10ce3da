import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { changeBy } from './admin-change.ts';

/**
 * Deletes a key of any user and, unless the operator keeps them, all keys that were created with it. This gateway refuses
 * them at once, others within a second.
 */
export const revokeToken: Handler<'revokeToken'> = async ({ gateway, caller, path, query }, reply) => {
  const change = { ...changeBy({ gateway, caller }, 'revokeToken'), details: {} };
  const { id } = path;
  const keepChildren = query.keep_children ?? false;
  if (!(await gateway.store.run('revokeToken', { id, keepChildren, change })))
    throw new Failure(404, 'resource_not_found', 'id: there is no such key.');
  gateway.keys.invalidate({ tokenId: id });
  reply.json(200, { success: true, message: '' });
};
