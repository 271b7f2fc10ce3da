import type { Handler } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { unknownCharge } from './explainCharge.ts';

/** Refunds a settled call or task, once. */
export const refundCall: Handler<'refundCall'> = async (request, reply) => {
  const { gateway, path, body, headers } = request;
  const idempotencyKey = headers['idempotency-key'];
  const result = await gateway.store.run('refundCall', {
    id: path.id,
    amount: body.amount ?? null,
    reason: body.reason,
    idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : null,
    change: changeBy(request, 'refundCall'),
  });
  switch (result.outcome) {
    case 'not_found':
      throw unknownCharge();
    case 'reused':
      throw invalid('idempotency-key', 'was used for another refund before.', 'idempotency_key_reused');
    case 'refunded_before': {
      const { amount, created_at: at } = result.refund;
      throw invalid('id', `has been refunded already: ${amount} quota at ${new Date(at).toISOString()}.`);
    }
    case 'out_of_range':
      throw result.charged === 0
        ? invalid('id', 'cannot be refunded, because nothing was charged.')
        : invalid('amount', `must be between 1 and ${result.charged}, the amount that was charged.`);
    case 'refunded': {
      const { request_id, token_id, charged, amount, reason, created_at } = result.refund;
      const { creditedTo, left, walletBalance } = result.refund;
      const refund = { request_id, token_id, charged, amount, reason, created_at: unixTime(created_at) };
      const balances = { credited_to: creditedTo, remain_quota: left, wallet_balance: walletBalance };
      reply.json(200, success({ ...refund, ...balances }));
    }
  }
};
