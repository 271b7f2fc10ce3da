import type { Handler } from '../../http/handler.ts';
import { notFound } from '../../lib/failure.ts';
import { changeBy } from './admin-change.ts';

/**
 * Deletes a key of any user and, without `keep_children`, all keys that were created with it. This gateway refuses them
 * at once, others within a second.
 */
export const revokeToken: Handler<'revokeToken'> = async ({ gateway, caller, path, query }, reply) => {
  const change = { ...changeBy({ gateway, caller }, 'revokeToken'), details: {} };
  const { id } = path;
  const keepChildren = query.keep_children ?? false;
  if (!(await gateway.store.run('revokeToken', { id, keepChildren, change })))
    throw notFound('id', 'there is no such key.');
  gateway.keys.invalidate({ tokenId: id });
  reply.json(200, { success: true, message: '' });
};
