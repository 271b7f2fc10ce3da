import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { viewAnyToken } from './any-token.ts';

/** The keys of all users, the newest first, their secrets masked. */
export const searchTokens: Handler<'searchTokens'> = async ({ gateway, query }, reply) => {
  const { user_id: userId, name = '', status, group } = query;
  const now = gateway.clock();
  const search = { userId, name, status, group, now, ...readPage(query) };
  const { tokens, total } = await gateway.store.report('searchTokens', search);
  const items = tokens.map((token) => viewAnyToken(token, now));
  reply.json(200, { success: true, message: '', data: { items, total } });
};
