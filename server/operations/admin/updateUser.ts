import type { Handler } from '../../http/handler.ts';
import { requireGroup } from '../../keys/key-fields.ts';
import { accessDenied, notFound } from '../../lib/failure.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { viewUser } from './user-view.ts';

/** Changes a user. Removed rights end on this gateway at once, on others within a second. */
export const updateUser: Handler<'updateUser'> = async ({ gateway, caller, path, body }, reply) => {
  const { store, keys, settings } = gateway;
  const { name, group, role, disabled } = body;
  if (group !== undefined) requireGroup(settings.groups, group);
  const user = await store.run('updateUser', {
    id: path.id,
    set: { name, group, role, disabled },
    change: changeBy({ gateway, caller }, 'updateUser'),
  });
  if (user === 'not_found') throw notFound('id', 'there is no such user.');
  if (user === 'last_admin') {
    const field = disabled === true ? 'disabled' : 'role';
    throw accessDenied(`${field}: this is the last admin who is not disabled; create another one first.`);
  }
  keys.invalidate({ userId: user.id });
  reply.json(200, success(viewUser(user)));
};
