import type { Exchange } from '../http/exchange.ts';
import { NativeError } from '../http/native-error.ts';
import { openInferenceSocket } from '../inference/inference-socket.ts';
import { requestedModel } from '../models.ts';
import { openRealtimeSocket } from '../realtime/realtime-session.ts';
import type { SocketContext } from './connection.ts';

interface SocketProtocol {
  path: string;
  /** Throws the `NativeError` that refuses the handshake. */
  check(query: URLSearchParams): void;
  open(context: SocketContext): void;
}

const protocols: readonly SocketProtocol[] = [
  {
    path: '/api-ws/v1/realtime',
    check: (query) => requestedModel(query.get('model'), 'realtime'),
    open: openRealtimeSocket,
  },
  // Its model comes with each task; a query is ignored.
  { path: '/api-ws/v1/inference', check: () => {}, open: openInferenceSocket },
];

export const socketPaths = protocols.map(({ path }) => new RegExp(`^${path}$`));

export function protocolOf({ pathname }: URL): SocketProtocol | undefined {
  return protocols.find(({ path }) => path === pathname);
}

/** Answers a request on a socket's path that asks for no upgrade, or whose upgrade is refused. */
export async function answerWithoutUpgrade({ url }: Exchange): Promise<void> {
  protocolOf(url)?.check(url.searchParams);
  throw new NativeError(426, 'UpgradeRequired', 'This path is a WebSocket', { upgrade: 'websocket' });
}
