import type { Handler } from '../../http/handler.ts';
import { notFound } from '../../lib/failure.ts';
import { findUser } from '../../store/queries/users.ts';
import { success } from '../success.ts';
import { viewUser } from './user-view.ts';

/** Returns a user. */
export const getUser: Handler<'getUser'> = async ({ gateway, path }, reply) => {
  const user = await findUser(gateway.store.read, path.id);
  if (user === undefined) throw notFound('id', 'there is no such user.');
  reply.json(200, success(viewUser(user)));
};
