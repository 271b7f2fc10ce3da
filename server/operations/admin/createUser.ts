import type { Handler } from '../../http/handler.ts';
import { requireGroup } from '../../keys/key-fields.ts';
import { accessDenied } from '../../lib/failure.ts';
import { maxAccounts } from '../../store/commands/users.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { viewUser } from './user-view.ts';

/** Creates a user without keys. */
export const createUser: Handler<'createUser'> = async ({ gateway, caller, body }, reply) => {
  const { name, role = 'user', parent_id: parentId } = body;
  // A sub-account has the group of its parent by default.
  const group = body.group ?? (parentId === undefined ? 'default' : undefined);
  if (group !== undefined) requireGroup(gateway.settings.groups, group);
  const details = { name, group, role, ...(parentId !== undefined && { parent_id: parentId }) };
  const change = { ...changeBy({ gateway, caller }, 'createUser'), details };
  const order = { name, role, now: change.now, change };
  const user =
    parentId === undefined
      ? await gateway.store.run('createUser', { ...order, group: group ?? 'default' })
      : await gateway.store.run('createSubAccount', { ...order, group, parentId });
  if (typeof user === 'string') throw accessDenied(`parent_id: ${refusals[user]}`);
  reply.json(200, success(viewUser(user)));
};

const refusals = {
  no_parent: 'there is no such user.',
  nested: 'this user is a sub-account, which cannot have sub-accounts.',
  no_wallet: 'this user has no wallet; open one first, because sub-accounts draw from it.',
  too_many: `a user has at most ${maxAccounts} sub-accounts.`,
} as const;
