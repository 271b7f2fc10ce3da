import type { Handler } from '../../http/handler.ts';
import { invalid, notFound } from '../../lib/failure.ts';
import { mostQuota } from '../../store/commands/grants.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { viewWallet, walletOfSubAccount } from './wallet-view.ts';

/** Opens the wallet of a user, which takes over the quota of all keys of the user. */
export const openWallet: Handler<'openWallet'> = async ({ gateway, caller, path }, reply) => {
  const change = changeBy({ gateway, caller }, 'openWallet');
  const result = await gateway.store.run('openWallet', { userId: path.id, change });
  if (result.outcome === 'not_found') throw notFound('id', 'there is no such user.');
  if (result.outcome === 'sub_account') throw walletOfSubAccount(result);
  if (result.outcome === 'out_of_range')
    throw invalid(
      'id',
      `a wallet may have ${mostQuota} in all, and the keys of this user have ${result.quota}.`,
    );
  gateway.keys.invalidate({ userId: path.id });
  reply.json(200, success(viewWallet(result.wallet)));
};
