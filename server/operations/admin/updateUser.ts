import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { changeBy } from './admin-change.ts';
import { requireGroup, viewUser } from './user-view.ts';

/** Changes a user. Whoever loses something by it does so here at once, elsewhere within a second. */
export const updateUser: Handler<'updateUser'> = async ({ gateway, caller, path, body }, reply) => {
  const { store, keys, settings } = gateway;
  const { name, group, role, disabled } = body;
  if (group !== undefined) requireGroup(settings.groups, group);
  const user = await store.run('updateUser', {
    id: path.id,
    set: { name, group, role, disabled },
    change: changeBy({ gateway, caller }, 'updateUser'),
  });
  if (user === 'not_found') throw new Failure(404, 'resource_not_found', 'id: there is no such user.');
  if (user === 'last_admin') {
    const field = disabled === true ? 'disabled' : 'role';
    const message = `${field}: this is the last admin who is not disabled; make another one first.`;
    throw new Failure(403, 'access_denied', message);
  }
  keys.invalidate({ userId: user.id });
  reply.json(200, { success: true, message: '', data: viewUser(user) });
};
