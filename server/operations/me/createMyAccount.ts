import type { Handler } from '../../http/handler.ts';
import { accessDenied } from '../../lib/failure.ts';
import { maxAccounts } from '../../store/commands/users.ts';
import { changeBy } from '../admin/admin-change.ts';
import { success } from '../success.ts';
import { viewAccount } from './account-view.ts';
import { requireOwner } from './members.ts';

/** Creates a sub-account of the caller's user, in its group. */
export const createMyAccount: Handler<'createMyAccount'> = async ({ gateway, caller, body }, reply) => {
  requireOwner(caller);
  const { name } = body;
  const { userId: parentId } = caller;
  const change = {
    ...changeBy({ gateway, caller }, 'createMyAccount'),
    details: { name, parent_id: parentId },
  };
  const order = { name, parentId, now: change.now, change };
  const account = await gateway.store.run('createSubAccount', order);
  if (typeof account === 'string') throw accessDenied(refusals[account]);
  reply.json(200, success(viewAccount(account)));
};

const refusals = {
  no_parent: 'The user of the key does not exist.',
  nested: 'The user is a sub-account, which cannot have sub-accounts.',
  no_wallet: 'Sub-accounts require a wallet of the user, which only the operator can open.',
  too_many: `A user has at most ${maxAccounts} sub-accounts.`,
} as const;
