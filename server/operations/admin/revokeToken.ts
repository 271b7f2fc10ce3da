import { Failure } from '../../failure.ts';
import type { Handler } from '../../http/handler.ts';
import { changeBy } from '../admin-change.ts';

/** Deletes a key of any user. It is refused here at once, elsewhere within a second. */
export const revokeToken: Handler<'revokeToken'> = async ({ gateway, caller, path }, reply) => {
  const change = { ...changeBy({ gateway, caller }, 'revokeToken'), details: {} };
  const { id } = path;
  if (!(await gateway.store.run('revokeToken', { id, change })))
    throw new Failure(404, 'resource_not_found', 'id: there is no such key.');
  gateway.keys.forget({ tokenId: id });
  reply.json(200, { success: true, message: '' });
};
