import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { searchBudgets } from '../../store/queries/budgets.ts';
import { success } from '../success.ts';
import { viewBudget } from './budget-view.ts';

/** Lists budgets of all users, the newest first. */
export const listBudgets: Handler<'listBudgets'> = async ({ gateway, query }, reply) => {
  const { user_id: userId, token_id: tokenId } = query;
  const { budgets, total } = await searchBudgets(gateway.store.read, { userId, tokenId, ...readPage(query) });
  const now = gateway.clock();
  reply.json(200, success({ items: budgets.map((budget) => viewBudget(budget, now)), total }));
};
