import type { Handler } from '../../http/handler.ts';
import { listAccounts } from '../../store/queries/users.ts';
import { success } from '../success.ts';
import { viewAccount } from './account-view.ts';
import { requireUserView } from './statements.ts';

/** Lists the sub-accounts of the caller's user. */
export const listMyAccounts: Handler<'listMyAccounts'> = async ({ gateway, caller }, reply) => {
  requireUserView(caller);
  const accounts = await listAccounts(gateway.store.read, caller.userId);
  reply.json(200, success({ items: accounts.map(viewAccount) }));
};
