import type { Handler } from '../../http/handler.ts';
import { removeMember } from '../me/members.ts';
import { changeBy } from './admin-change.ts';

/** Removes a member of a user. Its keys stop on this gateway at once, on others within a second. */
export const deleteUserMember: Handler<'deleteUserMember'> = async (request, reply) => {
  const { gateway, path } = request;
  const owner = { gateway, userId: path.id, change: changeBy(request, 'deleteUserMember') };
  await removeMember(owner, path.member_id);
  reply.json(200, { success: true, message: '' });
};
