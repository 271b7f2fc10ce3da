import type { Handler } from '../../http/handler.ts';
import { accountViewer } from './accounts.ts';
import { requireUserView, sendStatement } from './statements.ts';

/** Returns the statement of the caller's user, or of one of its sub-accounts, for a month. */
export const getMyStatement: Handler<'getMyStatement'> = async (request, reply) => {
  requireUserView(request.caller);
  const { userId } = await accountViewer(request, request.query.account_id);
  await sendStatement(request, reply, userId);
};
