import type { Attributes } from '@opentelemetry/api';
import type { SocketRequest } from '../channels/socket.ts';
import { socketDuration, socketsActive } from '../telemetry/metrics.ts';
import type { Trace } from '../telemetry/trace.ts';

const operations: Readonly<Record<SocketRequest['path'], Attributes>> = {
  '/api-ws/v1/realtime': { 'unigate.operation': 'openRealtimeSocket' },
  '/api-ws/v1/inference': { 'unigate.operation': 'openInferenceSocket' },
};

/** Counts a socket as open. The returned function ends the count and the span, with the outcome as an HTTP status. */
export function countSocket(path: SocketRequest['path'], trace: Trace | undefined): (status: number) => void {
  const attributes = operations[path];
  const startedAt = performance.now();
  socketsActive.add(1, attributes);
  return (status) => {
    socketsActive.add(-1, attributes);
    const seconds = (performance.now() - startedAt) / 1e3;
    const ended = { ...attributes, 'http.response.status_code': status };
    socketDuration.record(seconds, ended);
    trace?.end(ended, status >= 500 ? String(status) : undefined, `GET ${path}`);
  };
}
