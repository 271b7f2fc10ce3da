import type { Handler } from '../../http/handler.ts';
import { listTokens as findTokens } from '../../store/queries/tokens.ts';
import { readPage } from '../read-page.ts';
import { viewToken } from '../token-view.ts';

/** The keys of the caller's user, the newest first, their secrets masked. */
export const listTokens: Handler<'listTokens'> = async ({ gateway, caller, query }, reply) => {
  const { tokens, total } = await findTokens(gateway.store.read, {
    userId: caller.userId,
    ...readPage(query),
  });
  const now = gateway.clock();
  const items = tokens.map((token) => viewToken(token, now));
  reply.json(200, { success: true, message: '', data: { items, total } });
};
