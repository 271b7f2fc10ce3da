import type { Handler } from '../../http/handler.ts';
import { accessDenied } from '../../lib/failure.ts';
import { changeBy } from '../admin/admin-change.ts';
import { success } from '../success.ts';
import { viewAccount } from './account-view.ts';
import { unknownAccount } from './accounts.ts';
import { requireOwner } from './members.ts';

/** Changes a sub-account of the caller's user. A disabled one stops on this gateway at once, on others within a second. */
export const updateMyAccount: Handler<'updateMyAccount'> = async ({ gateway, caller, path, body }, reply) => {
  requireOwner(caller);
  const { name, disabled } = body;
  const account = await gateway.store.run('updateSubAccount', {
    id: path.account_id,
    parentId: caller.userId,
    set: { name, disabled },
    change: changeBy({ gateway, caller }, 'updateMyAccount'),
  });
  if (account === 'not_found') throw unknownAccount();
  if (account === 'disabled_by_operator')
    throw accessDenied('disabled: the operator disabled this sub-account, and only the operator enables it.');
  if (account === 'last_admin')
    throw accessDenied('disabled: this sub-account is the last admin who is not disabled.');
  gateway.keys.invalidate({ userId: account.id });
  reply.json(200, success(viewAccount(account)));
};
