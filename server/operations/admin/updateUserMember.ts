import type { Handler } from '../../http/handler.ts';
import { unknownMemberOf, viewMember } from '../me/members.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';

/** Changes a member of a user. A removed right ends on this gateway at once, on others within a second. */
export const updateUserMember: Handler<'updateUserMember'> = async (
  { gateway, caller, path, body },
  reply,
) => {
  const { name, role } = body;
  const change = changeBy({ gateway, caller }, 'updateUserMember');
  const order = { userId: path.id, id: path.member_id, set: { name, role }, change };
  const member = await gateway.store.run('updateMember', order);
  if (member === 'not_found') throw await unknownMemberOf(gateway, path.id);
  gateway.keys.invalidate({ userId: path.id });
  reply.json(200, success(viewMember(member)));
};
