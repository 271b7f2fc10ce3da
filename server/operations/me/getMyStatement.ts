import type { Handler } from '../../http/handler.ts';
import { requireUserView, sendStatement } from './statements.ts';

/** Returns the statement of the caller's user for a month. */
export const getMyStatement: Handler<'getMyStatement'> = async (request, reply) => {
  requireUserView(request.caller);
  await sendStatement(request, reply, request.caller.userId);
};
