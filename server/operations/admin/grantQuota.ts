import type { Handler } from '../../http/handler.ts';
import { Failure, invalid } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import { type GrantResult, mostQuota } from '../../store/commands/grants.ts';
import { changeBy } from './admin-change.ts';

/** Gives quota to a key or takes some away, once under one `Idempotency-Key`. */
export const grantQuota: Handler<'grantQuota'> = async (request, reply) => {
  const { gateway, caller, path, body, headers } = request;
  const name = headers['idempotency-key'];
  const { amount, reason } = body;
  if (amount === 0) throw invalid('amount', 'must not be 0.');
  const order = {
    tokenId: path.id,
    amount,
    reason,
    idempotencyKey: typeof name === 'string' ? name : null,
    change: changeBy({ gateway, caller }, 'grantQuota'),
  };
  const give = () => gateway.store.run('grantQuota', order);
  const lacks = (answer: GrantResult) => amount < 0 && answer.outcome === 'out_of_range';
  const result = await gateway.callQuota.withReclaim(path.id, -amount, give, lacks);
  switch (result.outcome) {
    case 'not_found':
      throw new Failure(404, 'resource_not_found', 'id: there is no such key.');
    case 'reused':
      throw invalid('idempotency-key', 'was used for another grant before.', 'idempotency_key_reused');
    case 'out_of_range': {
      if (amount > 0)
        throw invalid('amount', `a key may have ${mostQuota} in all, and this one has ${result.left}.`);
      const message = `amount: the key has only ${result.left} left.`;
      throw new Failure(403, 'insufficient_user_quota', message);
    }
    case 'granted': {
      const { grant } = result;
      reply.json(200, {
        success: true,
        message: '',
        data: {
          id: grant.id,
          token_id: grant.tokenId,
          amount: grant.amount,
          reason: grant.reason,
          created_at: unixTime(grant.createdAt),
          remain_quota: grant.left,
          debt_settled: grant.debtSettled,
          debt: grant.debt,
        },
      });
    }
  }
};
