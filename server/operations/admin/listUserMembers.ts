import type { Handler } from '../../http/handler.ts';
import { notFound } from '../../lib/failure.ts';
import { listMembers } from '../../store/queries/members.ts';
import { findUser } from '../../store/queries/users.ts';
import { viewMember } from '../me/members.ts';
import { success } from '../success.ts';

/** Lists the members of a user. */
export const listUserMembers: Handler<'listUserMembers'> = async ({ gateway, path }, reply) => {
  if ((await findUser(gateway.store.read, path.id)) === undefined)
    throw notFound('id', 'there is no such user.');
  const members = await listMembers(gateway.store.read, path.id);
  reply.json(200, success({ items: members.map(viewMember) }));
};
