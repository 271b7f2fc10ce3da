import type { OperationId } from '../../../generated/operations.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { failureBody } from '../../http/render-failure.ts';
import { Failure } from '../../lib/failure.ts';

/** Answers a plain HTTP request to the path of a socket: the handshake itself never comes this way. */
export function upgradeRequired(
  { requestId }: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
): void {
  const failure = new Failure(426, 'upgrade_required', 'Open this path as a WebSocket.');
  const body = JSON.stringify(failureBody(failure, requestId, 'generic'));
  reply.bytes(426, 'application/json; charset=utf-8', body, {
    upgrade: 'websocket',
    connection: 'upgrade',
  });
}
