import type { OperationId } from '../../generated/operations.ts';
import type { OperationRequest, Reply } from '../http/handler.ts';

/** Answers a plain HTTP request to the path of a socket: the handshake itself never comes this way. */
export function upgradeRequired(
  { requestId }: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
): void {
  const error = {
    code: 'upgrade_required',
    message: 'Open this path as a WebSocket.',
    request_id: requestId,
  };
  reply.bytes(426, 'application/json; charset=utf-8', JSON.stringify({ error }), {
    upgrade: 'websocket',
    connection: 'upgrade',
  });
}
