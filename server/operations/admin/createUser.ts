import type { Handler } from '../../http/handler.ts';
import { changeBy } from './admin-change.ts';
import { requireGroup, viewUser } from './user-view.ts';

/** Makes a user, who has no key yet. */
export const createUser: Handler<'createUser'> = async ({ gateway, caller, body }, reply) => {
  const { name, group = 'default', role = 'user' } = body;
  requireGroup(gateway.settings.groups, group);
  const change = { ...changeBy({ gateway, caller }, 'createUser'), details: { name, group, role } };
  const user = await gateway.store.run('createUser', { name, group, role, now: change.now, change });
  reply.json(200, { success: true, message: '', data: viewUser(user) });
};
