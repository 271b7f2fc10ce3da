import type { Handler } from '../../http/handler.ts';
import { requireOwner, unknownMember } from './members.ts';

/** Removes a member of the caller's user. Its keys stop on this gateway at once, on others within a second. */
export const deleteMyMember: Handler<'deleteMyMember'> = async ({ gateway, caller, path }, reply) => {
  requireOwner(caller);
  const change = undefined;
  const order = { userId: caller.userId, id: path.member_id, now: gateway.clock(), change };
  if ((await gateway.store.run('removeMember', order)) === 'not_found') throw unknownMember();
  gateway.keys.invalidate({ userId: caller.userId });
  reply.json(200, { success: true, message: '' });
};
