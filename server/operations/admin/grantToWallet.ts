import type { Handler } from '../../http/handler.ts';
import { Failure, invalid, notFound } from '../../lib/failure.ts';
import { mostQuota } from '../../store/commands/grants.ts';
import type { Result } from '../../store/commands/registry.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { viewWalletGrant, walletOfSubAccount } from './wallet-view.ts';

/** Grants quota to a wallet or, with a negative amount, takes quota back. Runs once per reference. */
export const grantToWallet: Handler<'grantToWallet'> = async ({ gateway, caller, path, body }, reply) => {
  const { amount, reference, reason } = body;
  if (amount === 0) throw invalid('amount', 'must not be 0.');
  const change = changeBy({ gateway, caller }, 'grantToWallet');
  const run = () =>
    gateway.store.run('grantToWallet', { userId: path.id, amount, reference, reason, change });
  const lacksQuota = ({ outcome }: Result<'grantToWallet'>) => amount < 0 && outcome === 'out_of_range';
  const result = await gateway.callQuota.withWalletReclaim(path.id, -amount, run, lacksQuota);
  switch (result.outcome) {
    case 'not_found':
      throw notFound('id', 'there is no such user.');
    case 'sub_account':
      throw walletOfSubAccount(result);
    case 'reused':
      throw invalid(
        'reference',
        `was already used for a grant of ${result.grant.amount}.`,
        'idempotency_key_reused',
      );
    case 'out_of_range':
      if (amount > 0)
        throw invalid('amount', `a wallet may have ${mostQuota} in all, and this one has ${result.left}.`);
      throw new Failure(403, 'insufficient_user_quota', `amount: the wallet has only ${result.left} left.`);
    case 'granted':
      // The grant may have opened the wallet.
      gateway.keys.invalidate({ userId: path.id });
      reply.json(200, success(viewWalletGrant(result.grant)));
  }
};
