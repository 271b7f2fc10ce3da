import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { success } from '../success.ts';
import { viewAnyToken } from '../tokens/token-view.ts';

/** Searches keys of all users, newest first, with masked secrets. */
export const searchTokens: Handler<'searchTokens'> = async ({ gateway, query }, reply) => {
  const { user_id: userId, name = '', status, group } = query;
  const now = gateway.clock();
  const search = { userId, name, status, group, now, ...readPage(query) };
  const { tokens, total } = await gateway.store.report('searchTokens', search);
  reply.json(200, success({ items: tokens.map((token) => viewAnyToken(token, now)), total }));
};
