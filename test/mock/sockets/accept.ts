import type { IncomingMessage, Server } from 'node:http';
import { WebSocketServer } from 'ws';
import type { Protocol } from '../../../generated/catalogue.ts';
import {
  type EventValidator,
  validateInferenceClientEvent,
  validateInferenceServerEvent,
  validateRealtimeAliasClientEvent,
  validateRealtimeAliasServerEvent,
  validateRealtimeClientEvent,
  validateRealtimeServerEvent,
} from '../../../generated/event-validators.js';
import type { OperationId } from '../../../generated/operations.ts';
import type { Timers } from '../../../server/runtime/timers.ts';
import { addressOf } from './examples.ts';
import { admit, refuse } from './handshake.ts';
import { InferenceSession } from './inference-session.ts';
import { RealtimeSession } from './realtime-session.ts';
import type { MockSession, Opening } from './session.ts';

interface Channel {
  protocol: Protocol;
  operation: OperationId;
  client: EventValidator<unknown>;
  server: EventValidator<unknown>;
  play: (opening: Opening) => MockSession;
}

const realtime = {
  protocol: 'realtime',
  operation: 'openRealtimeSocket',
  play: (opening: Opening) => new RealtimeSession(opening),
} as const;

/** The channels of the AsyncAPI document that are sockets, by their paths. */
const channels: ReadonlyMap<string, Channel> = new Map<string, Channel>([
  [
    addressOf('realtime'),
    { ...realtime, client: validateRealtimeClientEvent, server: validateRealtimeServerEvent },
  ],
  [
    addressOf('realtimeAlias'),
    { ...realtime, client: validateRealtimeAliasClientEvent, server: validateRealtimeAliasServerEvent },
  ],
  [
    addressOf('inference'),
    {
      protocol: 'inference',
      operation: 'openInferenceSocket',
      client: validateInferenceClientEvent,
      server: validateInferenceServerEvent,
      play: (opening) => new InferenceSession(opening),
    },
  ],
]);

const channelOf = ({ url = '' }: IncomingMessage) => channels.get(url.split('?', 1)[0] ?? '');

/** Whether a request opens a socket; any other with an `Upgrade` header is an ordinary request. */
export function opensSocket(request: IncomingMessage): boolean {
  const websocket = request.headers.upgrade?.toLowerCase() === 'websocket';
  return websocket && request.method === 'GET' && channelOf(request) !== undefined;
}

/**
 * Plays the sockets on the server's `upgrade` events, which it must raise only where `opensSocket` says so. The
 * result ends all connections.
 */
export function acceptSockets(server: Server, timers: Timers): () => void {
  const switcher = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 1024 * 1024,
    handleProtocols: (offered) => (offered.has('realtime') ? 'realtime' : false),
  });
  switcher.on('headers', (headers) => headers.push(`x-request-id: req_${crypto.randomUUID()}`));
  server.on('upgrade', (request, socket, head) => {
    // Until the switch nobody else listens, and an error without a listener is thrown.
    socket.on('error', () => {});
    const channel = channelOf(request);
    if (channel === undefined) return void socket.destroy();
    const admission = admit(request, channel.protocol);
    if ('status' in admission) return refuse(socket, channel.operation, admission);
    switcher.handleUpgrade(request, socket, head, (opened) => {
      channel.play({ ...channel, ...admission, socket: opened, timers });
    });
  });
  return () => {
    for (const client of switcher.clients) client.terminate();
  };
}
