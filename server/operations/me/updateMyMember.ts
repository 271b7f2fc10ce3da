import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { changeMember, memberOwnerOf } from './members.ts';

/** Changes a member of the caller's user. A removed right ends on this gateway at once, on others within a second. */
export const updateMyMember: Handler<'updateMyMember'> = async (request, reply) => {
  reply.json(200, success(await changeMember(memberOwnerOf(request), request.path.member_id, request.body)));
};
