import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { reportFigures } from './figures-report.ts';

/** Sums the figures of requests by hour, model and other fields. */
export const showFigures: Handler<'showFigures'> = async (request, reply) => {
  const { user_id: userId, token_id: tokenId, member_id: memberId } = request.query;
  const { model, channel, operation } = request.query;
  const filter = { userId, tokenId, memberId, model, channel, operation };
  reply.json(200, success(await reportFigures(request, filter, { forOperator: true })));
};
