import type { Handler } from '../../http/handler.ts';
import { addMember } from '../me/members.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';

/** Adds a member to a user. */
export const createUserMember: Handler<'createUserMember'> = async (request, reply) => {
  const { gateway, path, body } = request;
  const owner = { gateway, userId: path.id, change: changeBy(request, 'createUserMember') };
  reply.json(200, success(await addMember(owner, body)));
};
