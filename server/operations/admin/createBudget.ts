import type { Handler } from '../../http/handler.ts';
import { refuseSessionKey } from '../../keys/admin-scope.ts';
import { invalid, notFound } from '../../lib/failure.ts';
import { isTimeZone } from '../../lib/time-zone.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { viewBudget } from './budget-view.ts';

const defaultThresholds = [50, 80, 100];

/** Creates a budget of a user or a key, which includes later calls on every gateway within a second. */
export const createBudget: Handler<'createBudget'> = async (request, reply) => {
  const { gateway, body } = request;
  const { user_id: userId, token_id: tokenId, amount, period, time_zone: timeZone = 'UTC' } = body;
  const { hard = false, thresholds = defaultThresholds } = body;
  if (!isTimeZone(timeZone)) throw invalid('time_zone', 'must be an IANA time zone, such as Europe/Berlin.');
  const owner = tokenId !== undefined ? { tokenId, userId } : userId === undefined ? undefined : { userId };
  if (owner === undefined) throw invalid('user_id', 'is required, unless token_id is set.');
  if (tokenId !== undefined) await refuseSessionKey(gateway.store, tokenId, 'token_id');
  const budget = await gateway.store.run('createBudget', {
    owner,
    amount,
    period,
    timeZone,
    hard,
    thresholds: [...new Set(thresholds)],
    change: { ...changeBy(request, 'createBudget'), details: { ...body } },
  });
  if (budget === 'not_found')
    throw tokenId === undefined
      ? notFound('user_id', 'there is no such user.')
      : notFound('token_id', userId === undefined ? 'there is no such key.' : 'the user has no such key.');
  if (budget === 'exists') throw invalid('period', 'there is a budget of this period; change that one.');
  gateway.keys.invalidate({ userId: budget.userId });
  reply.json(200, success(viewBudget(budget, gateway.clock())));
};
