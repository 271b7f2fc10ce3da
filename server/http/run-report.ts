import type { OperationId } from '../../generated/operations.ts';
import { Failure } from '../lib/failure.ts';
import { BusyError } from '../outbound/slots.ts';
import { laneOf, type ReportArgs, type ReportName, type ReportResult } from '../store/reports.ts';
import type { OperationRequest } from './handler.ts';

/**
 * Runs a report in a slot of its kind. A started report keeps its slot until it ends, also when the client disconnects.
 *
 * @throws Failure 503 when no slot becomes free in time
 */
export async function runReport<Name extends ReportName>(
  { gateway, caller, signal }: Pick<OperationRequest<OperationId>, 'gateway' | 'caller' | 'signal'>,
  name: Name,
  args: ReportArgs<Name>,
): Promise<ReportResult<Name>> {
  const release = await gateway.reports[laneOf(name)]
    .acquire(caller.userId, signal)
    .catch((error: unknown) => {
      throw error instanceof BusyError ? busy(error) : error;
    });
  try {
    return await gateway.store.report(name, args);
  } finally {
    release();
  }
}

const busy = (cause: BusyError) =>
  new Failure(503, 'store_unavailable', 'Too many reports of this kind are in progress. Retry later.', {
    retryAfter: 1,
    cause,
  });
