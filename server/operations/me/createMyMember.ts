import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { addMember, callerOf } from './members.ts';

/** Adds a member to the caller's user. */
export const createMyMember: Handler<'createMyMember'> = async (request, reply) => {
  reply.json(200, success(await addMember(callerOf(request), request.body)));
};
