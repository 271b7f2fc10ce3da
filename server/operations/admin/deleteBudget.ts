import type { Handler } from '../../http/handler.ts';
import { notFound } from '../../lib/failure.ts';
import { findBudget } from '../../store/queries/budgets.ts';
import { changeBy } from './admin-change.ts';

/** Deletes a budget, which limits later calls no more. */
export const deleteBudget: Handler<'deleteBudget'> = async (request, reply) => {
  const { store, keys } = request.gateway;
  const { id } = request.path;
  const budget = await findBudget(store.read, id);
  const change = { ...changeBy(request, 'deleteBudget'), subject: `budget ${id}`, details: {} };
  if (budget === undefined || !(await store.run('deleteBudget', { id, change })))
    throw notFound('id', 'there is no such budget.');
  keys.invalidate({ userId: budget.userId });
  reply.json(200, { success: true, message: '' });
};
