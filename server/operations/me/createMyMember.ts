import type { Handler } from '../../http/handler.ts';
import { notFound } from '../../lib/failure.ts';
import { success } from '../success.ts';
import { requireOwner, tooManyMembers, viewMember } from './members.ts';

/** Adds a member to the caller's user. */
export const createMyMember: Handler<'createMyMember'> = async ({ gateway, caller, body }, reply) => {
  requireOwner(caller);
  const { name, role } = body;
  const change = undefined;
  const order = { userId: caller.userId, name, role, now: gateway.clock(), change };
  const member = await gateway.store.run('createMember', order);
  if (member === 'no_user') throw notFound('id', 'there is no such user.');
  if (member === 'too_many') throw tooManyMembers();
  reply.json(200, success(viewMember(member)));
};
