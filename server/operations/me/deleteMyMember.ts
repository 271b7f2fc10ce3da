import type { Handler } from '../../http/handler.ts';
import { memberOwnerOf, removeMember } from './members.ts';

/** Removes a member of the caller's user. Its keys stop on this gateway at once, on others within a second. */
export const deleteMyMember: Handler<'deleteMyMember'> = async (request, reply) => {
  await removeMember(memberOwnerOf(request), request.path.member_id);
  reply.json(200, { success: true, message: '' });
};
