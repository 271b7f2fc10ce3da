import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { requireOwner, unknownMember, viewMember } from './members.ts';

/** Changes a member of the caller's user. A removed right ends on this gateway at once, on others within a second. */
export const updateMyMember: Handler<'updateMyMember'> = async ({ gateway, caller, path, body }, reply) => {
  requireOwner(caller);
  const { name, role } = body;
  const change = undefined;
  const order = { userId: caller.userId, id: path.member_id, set: { name, role }, change };
  const member = await gateway.store.run('updateMember', order);
  if (member === 'not_found') throw unknownMember();
  gateway.keys.invalidate({ userId: caller.userId });
  reply.json(200, success(viewMember(member)));
};
