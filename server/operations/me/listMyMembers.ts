import type { Handler } from '../../http/handler.ts';
import { listMembers } from '../../store/queries/members.ts';
import { success } from '../success.ts';
import { requireOwner, viewMember } from './members.ts';

/** Lists the members of the caller's user. */
export const listMyMembers: Handler<'listMyMembers'> = async ({ gateway, caller }, reply) => {
  requireOwner(caller);
  const members = await listMembers(gateway.store.read, caller.userId);
  reply.json(200, success({ items: members.map(viewMember) }));
};
