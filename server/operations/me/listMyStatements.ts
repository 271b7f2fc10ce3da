import type { Handler } from '../../http/handler.ts';
import { accountViewer } from './accounts.ts';
import { listStatements, requireUserView } from './statements.ts';

/** Lists the months with statements of the caller's user, or of one of its sub-accounts. */
export const listMyStatements: Handler<'listMyStatements'> = async (request, reply) => {
  requireUserView(request.caller);
  const { userId } = await accountViewer(request, request.query.account_id);
  reply.json(200, await listStatements(request, userId));
};
