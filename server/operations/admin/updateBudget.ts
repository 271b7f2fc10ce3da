import type { Handler } from '../../http/handler.ts';
import { notFound } from '../../lib/failure.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { viewBudget } from './budget-view.ts';

/** Changes a budget. Its spending remains. */
export const updateBudget: Handler<'updateBudget'> = async (request, reply) => {
  const { gateway, path, body } = request;
  const { amount, hard, thresholds } = body;
  const set = { amount, hard, thresholds: thresholds && [...new Set(thresholds)] };
  const change = changeBy(request, 'updateBudget');
  const budget = await gateway.store.run('updateBudget', { id: path.id, set, change });
  if (budget === 'not_found') throw notFound('id', 'there is no such budget.');
  reply.json(200, success(viewBudget(budget, gateway.clock())));
};
