import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { addMember, memberOwnerOf } from './members.ts';

/** Adds a member to the caller's user. */
export const createMyMember: Handler<'createMyMember'> = async (request, reply) => {
  reply.json(200, success(await addMember(memberOwnerOf(request), request.body)));
};
