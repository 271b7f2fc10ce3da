import type { Handler } from '../../http/handler.ts';
import { reportFigures } from '../admin/figures-report.ts';
import { success } from '../success.ts';
import { accountViewer } from './accounts.ts';

/** Sums the figures of the requests that the caller sees, by hour, model and other fields. */
export const getMyUsage: Handler<'getMyUsage'> = async (request, reply) => {
  const { token_id: tokenId, member_id: memberId, model, operation } = request.query;
  const accountId = request.query.account_id;
  const viewer = await accountViewer(request, accountId);
  const withAccounts = accountId === undefined && viewer.family === undefined;
  const filter = { ...viewer, withAccounts, tokenId, memberId, model, operation };
  reply.json(200, success(await reportFigures(request, filter)));
};
