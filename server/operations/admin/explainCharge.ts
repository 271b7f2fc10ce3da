import type { Handler } from '../../http/handler.ts';
import { type Failure, notFound } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import { calculatedCost, explainCharge as explain } from '../../quota/charge-explanation.ts';
import { findCharge } from '../../store/queries/charges.ts';
import { exportedEntry } from '../../store/queries/log-export.ts';
import { success } from '../success.ts';

/** Explains the cost of a call or task. */
export const explainCharge: Handler<'explainCharge'> = async ({ gateway, path }, reply) => {
  const charge = await findCharge(gateway.store.read, path.id);
  if (charge === undefined) throw unknownCharge();
  const { reserved, unlimited, refund, quota } = charge;
  const data = {
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
    explanation: explain(charge, { forOperator: true }),
  };
  reply.json(200, success(data));
};

/** Builds a 404 for a charge without an entry in the log. */
export function unknownCharge(): Failure {
  const reasons = 'it is in progress, or retention has removed its entry';
  return notFound('id', `the log has no such call or task; ${reasons}.`);
}
