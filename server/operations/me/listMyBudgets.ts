import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { listBudgetsOf } from '../../store/queries/budgets.ts';
import { viewBudget } from '../admin/budget-view.ts';
import { success } from '../success.ts';

/** Lists the budgets that the caller sees, the oldest first. */
export const listMyBudgets: Handler<'listMyBudgets'> = async ({ gateway, caller }, reply) => {
  const budgets = await listBudgetsOf(gateway.store.read, viewerOf(caller));
  const now = gateway.clock();
  const items = budgets.map((budget) => viewBudget(budget, now));
  reply.json(200, success({ items, total: items.length }));
};
