import type { Handler } from '../../http/handler.ts';
import { listStatements, requireUserView } from './statements.ts';

/** Lists the months with statements of the caller's user. */
export const listMyStatements: Handler<'listMyStatements'> = async (request, reply) => {
  requireUserView(request.caller);
  reply.json(200, await listStatements(request, request.caller.userId));
};
