import type { OperationId } from '../../generated/operations.ts';
import { Failure } from '../failure.ts';
import type { OperationRequest } from '../http/handler.ts';
import { BusyError } from '../outbound/slots.ts';
import type { ReportArgs, ReportName, ReportResult } from '../store/reports.ts';

/** Runs a report for a caller in one of the places that searches have. @throws Failure 503 when all are taken */
export async function runSearch<Name extends ReportName>(
  { gateway, caller, signal }: OperationRequest<OperationId>,
  name: Name,
  args: ReportArgs<Name>,
): Promise<ReportResult<Name>> {
  const leave = await gateway.searches.take(caller.userId, signal).catch((error: unknown) => {
    throw error instanceof BusyError ? busy(error) : error;
  });
  try {
    return await gateway.store.report(name, args);
  } finally {
    leave();
  }
}

const busy = (cause: BusyError) =>
  new Failure(503, 'store_unavailable', 'Too many searches are under way. Repeat later.', {
    retryAfter: 1,
    cause,
  });
