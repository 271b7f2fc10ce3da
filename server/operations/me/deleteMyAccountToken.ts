import type { Handler } from '../../http/handler.ts';
import { changeBy } from '../admin/admin-change.ts';
import { findAccountToken, unknownKey } from './accounts.ts';

/**
 * Deletes a key of a sub-account of the caller's user and all keys that were created with it. This gateway refuses them at
 * once, others within a second.
 */
export const deleteMyAccountToken: Handler<'deleteMyAccountToken'> = async (request, reply) => {
  const { gateway, caller } = request;
  const { id, userId } = (await findAccountToken(request)).token;
  const change = {
    ...changeBy({ gateway, caller }, 'deleteMyAccountToken'),
    details: { user_id: userId },
  };
  const order = { id, userId, by: null, now: change.now, change };
  if ((await gateway.store.run('deleteToken', order)) === 'not_found') throw unknownKey();
  gateway.keys.invalidate({ tokenId: id });
  reply.json(200, { success: true, message: '' });
};
