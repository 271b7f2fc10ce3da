import type { Handler } from '../../http/handler.ts';
import { requireGroup } from '../../keys/key-fields.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { viewUser } from './user-view.ts';

/** Creates a user without keys. */
export const createUser: Handler<'createUser'> = async ({ gateway, caller, body }, reply) => {
  const { name, group = 'default', role = 'user' } = body;
  requireGroup(gateway.settings.groups, group);
  const change = { ...changeBy({ gateway, caller }, 'createUser'), details: { name, group, role } };
  const user = await gateway.store.run('createUser', { name, group, role, now: change.now, change });
  reply.json(200, success(viewUser(user)));
};
