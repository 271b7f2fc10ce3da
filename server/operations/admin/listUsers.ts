import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { success } from '../success.ts';
import { viewUser } from './user-view.ts';

/** Lists users, newest first. */
export const listUsers: Handler<'listUsers'> = async ({ gateway, query }, reply) => {
  const { name = '', group, parent_id: parentId } = query;
  const { users, total } = await gateway.store.report('searchUsers', {
    name,
    group,
    parentId,
    ...readPage(query),
  });
  reply.json(200, success({ items: users.map(viewUser), total }));
};
