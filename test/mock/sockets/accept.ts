import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
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
import { Failure } from '../../../server/lib/failure.ts';
import type { Timers } from '../../../server/lib/timers.ts';
import { type Behaviour, Behaviours } from '../behaviours.ts';
import type { RecentRequest, RecentRequests } from '../recent-requests.ts';
import { addressOf } from './examples.ts';
import { admit, type Refusal, refuse, wishesOfHandshake } from './handshake.ts';
import { InferenceSession } from './inference-session.ts';
import { RealtimeSession } from './realtime-session.ts';
import { scripts } from './scripts.ts';
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

/** What the mock is told about its sockets; without it they behave as always. */
export interface SocketControl {
  behaviours?: Behaviours;
  requests?: RecentRequests;
}

/**
 * Plays the sockets on the server's `upgrade` events, which it must raise only where `opensSocket` says so. The
 * result ends all connections.
 */
export function acceptSockets(
  server: Server,
  timers: Timers,
  { behaviours = new Behaviours(), requests }: SocketControl = {},
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
    // Until the switch nobody else listens, and an error without a listener is thrown.
    socket.on('error', () => {});
    waiting.add(socket);
    socket.once('close', () => waiting.delete(socket));
    const channel = channelOf(request);
    if (channel === undefined) return void socket.destroy();
    const { operation } = channel;
    const note: RecentRequest = {
      at: Date.now(),
      method: 'GET',
      path: request.url?.split('?')[0] ?? '',
      operation,
    };
    requests?.note(note);
    const began = timers.monotonic();
    socket.once('close', () => {
      note.end ??= 'broken';
      note.ms = timers.monotonic() - began;
    });
    const decline = (refusal: Refusal) => {
      Object.assign(note, { status: refusal.status, end: 'whole' });
      refuse(socket, operation, refusal);
    };
    let behaviour: Behaviour;
    try {
      behaviour = behaviours.next(operation, wishesOfHandshake(operation, request));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return decline({ status: error.status, message: error.message });
    }
    const delay = behaviours.latency(behaviour);
    const fault = behaviour.fault === 'none' ? undefined : behaviour.fault;
    Object.assign(note, { delay, ...(fault !== undefined && { fault }) });
    afterDelay(timers, delay, socket, (early) => {
      const unanswered = scripts.get(fault ?? '')?.unanswered;
      if (unanswered === 'cut') return void socket.destroy();
      // Read on, so that the end of the connection is seen.
      if (unanswered === 'left') return void socket.resume().once('end', () => socket.destroy());
      const admission = admit(request, channel.protocol, fault);
      if ('status' in admission) return decline(admission);
      switcher.handleUpgrade(request, socket, Buffer.concat([head, ...early]), (opened) => {
        waiting.delete(socket);
        note.status = 101;
        opened.once('close', (code) => {
          note.end = code === 1006 ? 'broken' : 'whole';
        });
        const latency = () => behaviours.latency(behaviour);
        channel.play({ ...channel, ...admission, socket: opened, timers, latency });
      });
    });
  });
  return () => {
    for (const client of switcher.clients) client.terminate();
    for (const socket of waiting) socket.destroy();
  };
}

/** Waits before a handshake is answered, unless the client leaves; what it sends meanwhile is kept. */
function afterDelay(timers: Timers, ms: number, socket: Duplex, go: (early: Buffer[]) => void): void {
  if (ms === 0) return go([]);
  const early: Buffer[] = [];
  const keep = (piece: Buffer) => early.push(piece);
  const leave = () => socket.destroy();
  const alarm = timers.alarm(ms, () => {
    socket.off('data', keep).off('end', leave);
    go(early);
  });
  socket.on('data', keep).once('end', leave);
  socket.once('close', () => alarm.cancel());
}
