import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { notFound } from '../../lib/failure.ts';
import { findUser } from '../../store/queries/users.ts';
import { listWalletGrants as findGrants } from '../../store/queries/wallets.ts';
import { success } from '../success.ts';
import { viewWalletGrant } from './wallet-view.ts';

/** Lists the grants to the wallet of a user, newest first. */
export const listWalletGrants: Handler<'listWalletGrants'> = async ({ gateway, path, query }, reply) => {
  const { read } = gateway.store;
  const { after, page_size } = query;
  const { limit } = readPage({ page_size });
  if ((await findUser(read, path.id)) === undefined) throw notFound('id', 'there is no such user.');
  const grants = await findGrants(read, { userId: path.id, before: after, limit: limit + 1 });
  const items = grants.slice(0, limit).map(viewWalletGrant);
  const page = { items, last_id: items.at(-1)?.id ?? null, has_more: grants.length > limit };
  reply.json(200, success(page));
};
