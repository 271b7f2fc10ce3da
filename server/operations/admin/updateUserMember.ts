import type { Handler } from '../../http/handler.ts';
import { changeMember } from '../me/members.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';

/** Changes a member of a user. A removed right ends on this gateway at once, on others within a second. */
export const updateUserMember: Handler<'updateUserMember'> = async (request, reply) => {
  const { gateway, path, body } = request;
  const owner = { gateway, userId: path.id, change: changeBy(request, 'updateUserMember') };
  reply.json(200, success(await changeMember(owner, path.member_id, body)));
};
