import type { Handler } from '../../http/handler.ts';
import { notFound } from '../../lib/failure.ts';
import { tooManyMembers, viewMember } from '../me/members.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';

/** Adds a member to a user. */
export const createUserMember: Handler<'createUserMember'> = async (
  { gateway, caller, path, body },
  reply,
) => {
  const { name, role } = body;
  const change = changeBy({ gateway, caller }, 'createUserMember');
  const order = { userId: path.id, name, role, now: gateway.clock(), change };
  const member = await gateway.store.run('createMember', order);
  if (member === 'no_user') throw notFound('id', 'there is no such user.');
  if (member === 'too_many') throw tooManyMembers();
  reply.json(200, success(viewMember(member)));
};
