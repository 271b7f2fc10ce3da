import type { Handler } from '../../http/handler.ts';
import { refuseSessionKey } from '../../keys/admin-scope.ts';
import { Failure, invalid, notFound } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import { type GrantResult, mostQuota } from '../../store/commands/grants.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';

/** Grants quota to a key or, with a negative amount, takes quota back. Runs once per `Idempotency-Key`. */
export const grantQuota: Handler<'grantQuota'> = async (request, reply) => {
  const { gateway, path, body, headers } = request;
  const idempotencyKey = headers['idempotency-key'];
  const { amount, reason } = body;
  if (amount === 0) throw invalid('amount', 'must not be 0.');
  await refuseSessionKey(gateway.store, path.id, 'id');
  const order = {
    tokenId: path.id,
    amount,
    reason,
    idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : null,
    change: changeBy(request, 'grantQuota'),
  };
  const run = () => gateway.store.run('grantQuota', order);
  const lacksQuota = ({ outcome }: GrantResult) => amount < 0 && outcome === 'out_of_range';
  const result = await gateway.callQuota.withReclaim(path.id, -amount, run, lacksQuota, { limitOnly: true });
  switch (result.outcome) {
    case 'not_found':
      throw notFound('id', 'there is no such key.');
    case 'reused':
      throw invalid('idempotency-key', 'was used for another grant before.', 'idempotency_key_reused');
    case 'out_of_range':
      if (amount > 0)
        throw invalid('amount', `a key may have ${mostQuota} in all, and this one has ${result.left}.`);
      throw new Failure(403, 'insufficient_user_quota', `amount: the key has only ${result.left} left.`);
    case 'granted': {
      const { id, tokenId, createdAt, left, debtSettled, debt } = result.grant;
      const grant = { id, token_id: tokenId, amount: result.grant.amount, reason: result.grant.reason };
      const balance = { remain_quota: left, debt_settled: debtSettled, debt };
      reply.json(200, success({ ...grant, created_at: unixTime(createdAt), ...balance }));
    }
  }
};
