import type { Server } from 'node:http';
import type { Gateway } from '../http/gateway.ts';
import { acceptSockets, type OpenSockets } from '../sockets/accept.ts';
import { InferenceSession } from '../sockets/inference/session.ts';
import { RealtimeSession } from '../sockets/realtime/session.ts';

/**
 * Adds the gateway's WebSocket endpoints to a server. `path` is where the HTTP application is mounted, for example `/ai`.
 * Upgrade requests of other paths are left to the server's other listeners.
 */
export function attachSockets(server: Server, gateway: Gateway, { path = '' } = {}): OpenSockets {
  return acceptSockets(server, gateway, {
    path,
    startSession: {
      realtime: (connection, socket, channels) => new RealtimeSession(connection, socket, channels),
      inference: (connection, socket) => new InferenceSession(connection, socket),
    },
  });
}
