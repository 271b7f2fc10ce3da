import type { OperationId } from '../../../generated/operations.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { failureBody } from '../../http/render-failure.ts';
import { Failure } from '../../lib/failure.ts';

/** Responds with 426 to a plain HTTP request to the path of a socket. Upgrade requests do not reach handlers. */
export function upgradeRequired(
  { requestId }: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
): void {
  const failure = new Failure(426, 'upgrade_required', 'Open this path as a WebSocket.');
  const body = JSON.stringify(failureBody(failure, requestId, 'generic'));
  const headers = { upgrade: 'websocket', connection: 'upgrade' };
  reply.bytes(426, 'application/json; charset=utf-8', body, headers);
}
