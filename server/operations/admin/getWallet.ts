import type { Handler } from '../../http/handler.ts';
import { notFound } from '../../lib/failure.ts';
import { walletOf } from '../../store/queries/wallets.ts';
import { success } from '../success.ts';
import { viewWallet } from './wallet-view.ts';

/** Returns the wallet of a user. */
export const getWallet: Handler<'getWallet'> = async ({ gateway, path }, reply) => {
  const wallet = await walletOf(gateway.store.read, path.id);
  if (wallet === undefined) throw notFound('id', 'there is no such user with a wallet.');
  reply.json(200, success(viewWallet(wallet)));
};
