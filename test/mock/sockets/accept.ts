import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Protocol } from '../../../generated/catalogue.ts';
import {
  type EventValidator,
  validateInferenceServerEvent,
  validateRealtimeAliasServerEvent,
  validateRealtimeServerEvent,
} from '../../../generated/event-validators.js';
import type { OperationId } from '../../../generated/operations.ts';
import { Failure } from '../../../server/lib/failure.ts';
import type { Timers } from '../../../server/lib/timers.ts';
import { type Behavior, Behaviors } from '../behaviors.ts';
import type { RecentRequest, RecentRequests } from '../recent-requests.ts';
import { addressOf } from './examples.ts';
import { checkHandshake, type HandshakeError, rejectHandshake, requestedByHandshake } from './handshake.ts';
import { InferenceSession } from './inference-session.ts';
import { RealtimeSession } from './realtime-session.ts';
import { scripts } from './scripts.ts';
import type { MockSession, SessionOptions } from './session.ts';

interface Channel {
  protocol: Protocol;
  operation: OperationId;
  server: EventValidator<unknown>;
  createSession: (options: SessionOptions) => MockSession;
}

const realtime = {
  protocol: 'realtime',
  operation: 'openRealtimeSocket',
  createSession: (options: SessionOptions) => new RealtimeSession(options),
} as const;

/** The sockets of the AsyncAPI document by path. */
const channels: ReadonlyMap<string, Channel> = new Map<string, Channel>([
  [addressOf('realtime'), { ...realtime, server: validateRealtimeServerEvent }],
  [addressOf('realtimeAlias'), { ...realtime, server: validateRealtimeAliasServerEvent }],
  [
    addressOf('inference'),
    {
      protocol: 'inference',
      operation: 'openInferenceSocket',
      server: validateInferenceServerEvent,
      createSession: (options) => new InferenceSession(options),
    },
  ],
]);

const channelOf = ({ url = '' }: IncomingMessage) => channels.get(url.split('?', 1)[0] ?? '');

/** Whether a request opens a socket. Any other request with an `Upgrade` header is an ordinary request. */
export function isSocketRequest(request: IncomingMessage): boolean {
  const websocket = request.headers.upgrade?.toLowerCase() === 'websocket';
  return websocket && request.method === 'GET' && channelOf(request) !== undefined;
}

/** The shared state of the control page. */
export interface SocketControls {
  behaviors?: Behaviors;
  requests?: RecentRequests;
}

/**
 * Handles the `upgrade` events of a server. The server must emit them only for an `isSocketRequest`. Returns a function that
 * closes all connections.
 */
export function acceptSockets(
  server: Server,
  timers: Timers,
  { behaviors = new Behaviors(), requests }: SocketControls = {},
): () => void {
  const switcher = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 1024 * 1024,
    handleProtocols: (offered) => (offered.has('realtime') ? 'realtime' : false),
  });
  switcher.on('headers', (headers) => headers.push(`x-request-id: req_${crypto.randomUUID()}`));
  const waiting = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    // An error without a listener would be thrown.
    socket.on('error', () => {});
    waiting.add(socket);
    socket.once('close', () => waiting.delete(socket));
    const channel = channelOf(request);
    if (channel === undefined) return void socket.destroy();
    const { operation } = channel;
    const recent: RecentRequest = {
      at: Date.now(),
      method: 'GET',
      path: request.url?.split('?')[0] ?? '',
      operation,
    };
    requests?.add(recent);
    const startedAt = timers.monotonic();
    socket.once('close', () => {
      recent.end ??= 'broken';
      recent.ms = timers.monotonic() - startedAt;
    });
    const reject = (error: HandshakeError) => {
      Object.assign(recent, { status: error.status, end: 'whole' });
      rejectHandshake(socket, operation, error);
    };
    let behavior: Behavior;
    try {
      behavior = behaviors.next(operation, requestedByHandshake(operation, request));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return reject({ status: error.status, message: error.message });
    }
    const delay = behaviors.latency(behavior);
    const fault = behavior.fault === 'none' ? undefined : behavior.fault;
    Object.assign(recent, { delay, ...(fault !== undefined && { fault }) });
    afterDelay(timers, delay, socket, (earlyData) => {
      const withoutResponse = scripts.get(fault ?? '')?.withoutResponse;
      if (withoutResponse === 'close') return void socket.destroy();
      // Reads further to detect the end of the connection.
      if (withoutResponse === 'hang') return void socket.resume().once('end', () => socket.destroy());
      const accepted = checkHandshake(request, channel.protocol, fault);
      if ('status' in accepted) return reject(accepted);
      switcher.handleUpgrade(request, socket, Buffer.concat([head, ...earlyData]), (opened) => {
        waiting.delete(socket);
        recent.status = 101;
        opened.once('close', (code) => {
          recent.end = code === 1006 ? 'broken' : 'whole';
        });
        const latency = () => behaviors.latency(behavior);
        channel.createSession({ ...channel, ...accepted, socket: opened, timers, latency });
      });
    });
  });
  return () => {
    for (const client of switcher.clients) client.terminate();
    for (const socket of waiting) socket.destroy();
  };
}

/** Delays the handshake and buffers data of the client. Ends when the client disconnects. */
function afterDelay(
  timers: Timers,
  ms: number,
  socket: Duplex,
  proceed: (earlyData: Buffer[]) => void,
): void {
  if (ms === 0) return proceed([]);
  const earlyData: Buffer[] = [];
  const buffer = (chunk: Buffer) => earlyData.push(chunk);
  const onEnd = () => socket.destroy();
  const alarm = timers.alarm(ms, () => {
    socket.off('data', buffer).off('end', onEnd);
    proceed(earlyData);
  });
  socket.on('data', buffer).once('end', onEnd);
  socket.once('close', () => alarm.cancel());
}
