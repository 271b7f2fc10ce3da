import type { Exchange } from '../http/exchange.ts';
import { NativeError } from '../http/native-error.ts';
import { openInferenceSocket } from '../inference/inference-socket.ts';
import { resolveModel } from '../models.ts';
import { openRealtimeSocket } from '../realtime/realtime-session.ts';
import type { SocketContext } from './connection.ts';

interface SocketProtocol {
  path: string;
  /** Throws a `NativeError` that rejects the handshake. */
  validate(query: URLSearchParams): void;
  open(context: SocketContext): void;
}

const protocols: readonly SocketProtocol[] = [
  {
    path: '/api-ws/v1/realtime',
    validate: (query) => resolveModel(query.get('model'), 'realtime'),
    open: openRealtimeSocket,
  },
  // The model is part of each task, so the query is ignored.
  { path: '/api-ws/v1/inference', validate: () => {}, open: openInferenceSocket },
];

export const socketPaths = protocols.map(({ path }) => new RegExp(`^${path}$`));

export function findProtocol({ pathname }: URL): SocketProtocol | undefined {
  return protocols.find(({ path }) => path === pathname);
}

/** Responds to a request on a socket path without an upgrade, or with a rejected upgrade. */
export async function requireUpgrade({ url }: Exchange): Promise<void> {
  findProtocol(url)?.validate(url.searchParams);
  throw new NativeError(426, 'UpgradeRequired', 'This path is a WebSocket', { upgrade: 'websocket' });
}
