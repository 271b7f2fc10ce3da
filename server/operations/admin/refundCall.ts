import type { Handler } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import { changeBy } from './admin-change.ts';
import { noCharge } from './explainCharge.ts';

/** Refunds a settled call or task, once. */
export const refundCall: Handler<'refundCall'> = async (request, reply) => {
  const { gateway, path, body, headers } = request;
  const name = headers['idempotency-key'];
  const result = await gateway.store.run('refundCall', {
    id: path.id,
    amount: body.amount ?? null,
    reason: body.reason,
    idempotencyKey: typeof name === 'string' ? name : null,
    change: changeBy(request, 'refundCall'),
  });
  switch (result.outcome) {
    case 'not_found':
      throw noCharge();
    case 'reused':
      throw invalid('idempotency-key', 'was used for another refund before.', 'idempotency_key_reused');
    case 'refunded_before': {
      const { amount, created_at: at } = result.refund;
      throw invalid('id', `has been refunded already: ${amount} quota at ${new Date(at).toISOString()}.`);
    }
    case 'out_of_range':
      throw result.charged === 0
        ? invalid('id', 'cannot be refunded, since nothing was charged.')
        : invalid('amount', `must be between 1 and ${result.charged}, which was charged.`);
    case 'refunded': {
      const { refund } = result;
      reply.json(200, {
        success: true,
        message: '',
        data: {
          request_id: refund.request_id,
          token_id: refund.token_id,
          charged: refund.charged,
          amount: refund.amount,
          reason: refund.reason,
          created_at: unixTime(refund.created_at),
          credited_to: refund.creditedTo,
          remain_quota: refund.left,
        },
      });
    }
  }
};
