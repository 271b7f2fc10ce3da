import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { viewerOf } from '../../keys/caller.ts';
import { listTokens as findTokens } from '../../store/queries/tokens.ts';
import { success } from '../success.ts';
import { viewToken } from './token-view.ts';

/** Lists the keys that the caller sees, newest first, with masked secrets. */
export const listTokens: Handler<'listTokens'> = async ({ gateway, caller, query }, reply) => {
  const viewer = viewerOf(caller);
  const { tokens, total } = await findTokens(gateway.store.read, { ...viewer, ...readPage(query) });
  const now = gateway.clock();
  const items = tokens.map((token) => {
    const view = viewToken(token, now);
    // The caller does not see the key that created it.
    return token.id === viewer.family ? { ...view, created_by: null } : view;
  });
  reply.json(200, success({ items, total }));
};
