import type { Handler } from '../../http/handler.ts';
import { unixTime } from '../../providers/video-task.ts';
import { listAccounts } from '../../store/queries/users.ts';
import { success } from '../success.ts';
import { requireUserView } from './statements.ts';

/** Lists the sub-accounts of the caller's user. */
export const listMyAccounts: Handler<'listMyAccounts'> = async ({ gateway, caller }, reply) => {
  requireUserView(caller);
  const accounts = await listAccounts(gateway.store.read, caller.userId);
  const items = accounts.map(({ id, name, group, disabled, keys, usedQuota, createdAt }) => {
    return { id, name, group, disabled, keys, used_quota: usedQuota, created_time: unixTime(createdAt) };
  });
  reply.json(200, success({ items }));
};
