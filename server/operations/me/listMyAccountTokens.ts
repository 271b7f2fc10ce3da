import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { listTokens } from '../../store/queries/tokens.ts';
import { success } from '../success.ts';
import { viewToken } from '../tokens/token-view.ts';
import { requireAccount } from './accounts.ts';

/** Lists the keys of a sub-account of the caller's user, newest first, with masked secrets. */
export const listMyAccountTokens: Handler<'listMyAccountTokens'> = async (request, reply) => {
  const { gateway, path, query } = request;
  await requireAccount(request);
  const search = { userId: path.account_id, ...readPage(query) };
  const { tokens, total } = await listTokens(gateway.store.read, search);
  const now = gateway.clock();
  reply.json(200, success({ items: tokens.map((token) => viewToken(token, now)), total }));
};
