import type { Handler } from '../../http/handler.ts';
import { unknownMemberOf } from '../me/members.ts';
import { changeBy } from './admin-change.ts';

/** Removes a member of a user. Its keys stop on this gateway at once, on others within a second. */
export const deleteUserMember: Handler<'deleteUserMember'> = async ({ gateway, caller, path }, reply) => {
  const change = changeBy({ gateway, caller }, 'deleteUserMember');
  const order = { userId: path.id, id: path.member_id, now: gateway.clock(), change };
  if ((await gateway.store.run('removeMember', order)) === 'not_found')
    throw await unknownMemberOf(gateway, path.id);
  gateway.keys.invalidate({ userId: path.id });
  reply.json(200, { success: true, message: '' });
};
