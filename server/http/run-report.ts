import type { OperationId } from '../../generated/operations.ts';
import { Failure } from '../lib/failure.ts';
import { BusyError } from '../outbound/slots.ts';
import { laneOf, type ReportArgs, type ReportName, type ReportResult } from '../store/reports.ts';
import type { OperationRequest } from './handler.ts';

/**
 * Runs a report for a caller in one of the places that its kind has. Once begun, it keeps the place to its end, also when
 * the client has left. @throws Failure 503 when all are taken
 */
export async function runReport<Name extends ReportName>(
  { gateway, caller, signal }: Pick<OperationRequest<OperationId>, 'gateway' | 'caller' | 'signal'>,
  name: Name,
  args: ReportArgs<Name>,
): Promise<ReportResult<Name>> {
  const places = gateway.reports[laneOf[name]];
  const release = await places.acquire(caller.userId, signal).catch((error: unknown) => {
    throw error instanceof BusyError ? busy(error) : error;
  });
  try {
    return await gateway.store.report(name, args);
  } finally {
    release();
  }
}

const busy = (cause: BusyError) =>
  new Failure(503, 'store_unavailable', 'Too many reports of this kind are under way. Repeat later.', {
    retryAfter: 1,
    cause,
  });
