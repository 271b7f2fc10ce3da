// A failure accepts only codes and statuses of errors.yaml. Nothing here runs: `tsc` checks it.
import { Failure, invalid, ProviderFailure, type TaskError } from '../../server/lib/failure.ts';

export const known: Failure[] = [
  new Failure(403, 'access_denied', ''),
  new Failure(404, 'model_not_found', ''),
  new Failure(503, 'model_not_found', ''),
  new ProviderFailure(400, 'AnyCode.OfTheProvider', ''),
];
// @ts-expect-error a code that errors.yaml does not have
export const unknown: Failure = new Failure(400, 'acess_denied', '');
// @ts-expect-error a status that the code does not have
export const otherStatus: Failure = new Failure(404, 'access_denied', '');
// @ts-expect-error a code that no HTTP response has
export const ofTasks: Failure = new Failure(400, 'task_expired', '');
// @ts-expect-error a code that does not have the status 400
invalid('field', 'problem', 'access_denied');
// @ts-expect-error a code that no failed task has
export const ofRequests: TaskError = { code: 'access_denied', message: '' };
