import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import { findCharge } from '../../store/queries/charges.ts';
import { exportedEntry } from '../../store/queries/log-export.ts';
import { calculatedCost, explainCharge as explain } from './charge-explanation.ts';

/** Shows why a call or task cost what it cost. */
export const explainCharge: Handler<'explainCharge'> = async ({ gateway, path }, reply) => {
  const charge = await findCharge(gateway.store.read, path.id);
  if (charge === undefined) throw noCharge();
  const { reserved, unlimited, refund, quota } = charge;
  reply.json(200, {
    success: true,
    message: '',
    data: {
      entry: exportedEntry(charge, refund?.amount ?? 0),
      reserved,
      unlimited: unlimited === 1,
      calculated: calculatedCost(charge),
      refund: refund && {
        amount: refund.amount,
        reason: refund.reason,
        user_id: refund.given_by,
        created_at: unixTime(refund.created_at),
      },
      net: quota - (refund?.amount ?? 0),
      explanation: explain(charge),
    },
  });
};

/** 404 for a charge that the log does not have. */
export function noCharge(): Failure {
  return new Failure(
    404,
    'resource_not_found',
    'id: the log has no such call or task; it is in progress, or retention has removed its entry.',
  );
}
