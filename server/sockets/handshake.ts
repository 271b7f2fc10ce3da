import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { OperationId } from '../../generated/operations.ts';
import type { Channel } from '../channels/channel.ts';
import { bearerKey } from '../http/authenticate.ts';
import type { Gateway } from '../http/gateway.ts';
import { gatewayStopping, inMaintenance } from '../http/readiness.ts';
import { failureBody } from '../http/render-failure.ts';
import { findRoute, type Operation, requireOneHost } from '../http/routes.ts';
import { requirePlainValues } from '../http/value-problem.ts';
import { requireCallRight } from '../keys/caller.ts';
import { Failure, notServed } from '../lib/failure.ts';
import { nodeHttp } from '../lib/node-http.ts';
import { findModel, requireProtocol } from '../models/catalogue.ts';
import type { Connection } from './connection.ts';

export type SocketProtocol = 'realtime' | 'inference';

const protocols: ReadonlyMap<OperationId, SocketProtocol> = new Map([
  ['openRealtimeSocket', 'realtime'],
  ['openInferenceSocket', 'inference'],
]);

/** The subprotocol that the gateway selects if the client offers it. */
export const subprotocol = 'realtime';

/** Whether a request opens a WebSocket on a known path. Any other request is handled without its `Upgrade` header. */
export function isSocketUpgrade(request: IncomingMessage): boolean {
  const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket';
  return isWebSocket && request.method === 'GET' && protocolOf(request) !== undefined;
}

/** A handshake that has passed the checks. */
export interface VerifiedHandshake extends Pick<Connection, 'key' | 'model'> {
  protocol: SocketProtocol;
  /** The channels that serve the model. At least one. */
  channels: readonly Channel[];
}

/**
 * Runs the checks before the upgrade, in the order of an HTTP request.
 *
 * @throws Failure 401, 400, 404, 403 or 503.
 */
export async function verifyHandshake(
  gateway: Gateway,
  request: IncomingMessage,
): Promise<VerifiedHandshake> {
  requireOneHost(request);
  const protocol = protocolOf(request);
  if (protocol === undefined)
    throw new Failure(404, 'path_not_found', 'This path has no WebSocket endpoint.');
  if (gateway.draining) throw gatewayStopping();
  if (gateway.maintenance) throw inMaintenance();
  const secret = readKey(request, protocol);
  const { keys } = gateway;
  const address = gateway.addressOf(request);
  const check = () => keys.getCached(secret, address) ?? keys.authenticate(secret, address);
  const caller = await check();
  requireCallRight(caller);
  await gateway.rateLimiter.acquire(caller);
  const model = findModel(readModel(request.url ?? ''));
  gateway.access.require(caller, model);
  requireProtocol(model, protocol);
  const channels = gateway.channels.serving('native', model.id, caller.group);
  if (channels.length === 0) throw notServed(model.id);
  const key = {
    caller,
    async recheck(): Promise<void> {
      key.caller = await check();
      requireCallRight(key.caller);
      gateway.access.require(key.caller, model);
    },
    watch: (listener: () => Promise<void>) => gateway.keyWatcher.watch(secret, listener),
  };
  return { protocol, key, model, channels };
}

function protocolOf(request: IncomingMessage): SocketProtocol | undefined {
  const operation = operationOf(request);
  return operation === undefined ? undefined : protocols.get(operation.id);
}

/** Returns the operation of a handshake's path, if it has one. */
export function operationOf({ url = '' }: IncomingMessage): Operation | undefined {
  return findRoute(url.split('?', 1)[0] ?? '')?.methods.get('get')?.operation;
}

/** Whether the only key of a handshake is a subprotocol. A page cannot read the HTTP response to such a handshake. */
export function hasBrowserKey(request: IncomingMessage): boolean {
  const protocol = protocolOf(request);
  if (protocol === undefined || bearerKey(request.headers) !== undefined) return false;
  return subprotocolKey(request.headers, protocol) !== undefined;
}

/** Reads the key of a browser, which cannot set the authorization header of a WebSocket. */
function subprotocolKey(headers: IncomingHttpHeaders, protocol: SocketProtocol): string | undefined {
  const offered = protocol === 'realtime' ? (headers['sec-websocket-protocol'] ?? '').split(',') : [];
  return offered.map((one) => /insecure-api-key\.(\S+)$/.exec(one.trim())?.[1]).find(Boolean);
}

/** @throws Failure 401 if there is no key, or two different keys. */
function readKey({ headers }: IncomingMessage, protocol: SocketProtocol): string {
  const bearer = bearerKey(headers);
  const fromProtocol = subprotocolKey(headers, protocol);
  if (bearer !== undefined && fromProtocol !== undefined && bearer !== fromProtocol) {
    const message = 'authorization and sec-websocket-protocol carry different keys; send one.';
    throw new Failure(401, 'invalid_api_key', message);
  }
  const key = bearer ?? fromProtocol;
  if (key !== undefined) return key;
  const ways =
    protocol === 'realtime'
      ? '"Authorization: Bearer <API_KEY>" or the subprotocol "openai-insecure-api-key.<API_KEY>"'
      : '"Authorization: Bearer <API_KEY>"';
  throw new Failure(401, 'invalid_api_key', `authorization: send your API key in ${ways}.`);
}

/** @throws Failure 400 if the query does not name exactly one model. */
function readModel(url: string): string {
  const queryStart = url.indexOf('?');
  const models = queryStart < 0 ? [] : new URLSearchParams(url.slice(queryStart + 1)).getAll('model');
  const [model = ''] = models;
  if (model === '') throw new Failure(400, 'invalid_request', 'model: is required.');
  if (models.length > 1) throw new Failure(400, 'invalid_request', 'model: must be sent once.');
  requirePlainValues({ model }, 'query');
  if (model.length > 200)
    throw new Failure(400, 'invalid_request', 'model: must have at most 200 characters.');
  return model;
}

/** Answers a handshake with an HTTP error and closes the connection. */
export function refuseUpgrade(
  socket: Duplex,
  requestId: string,
  failure: Failure,
  headers: readonly string[] = [],
): void {
  const { status, retryAfter } = failure;
  const body = JSON.stringify(failureBody(failure, requestId, 'generic'));
  const head = [
    `HTTP/1.1 ${status} ${nodeHttp.STATUS_CODES[status] ?? ''}`,
    `x-request-id: ${requestId}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...(retryAfter === undefined ? [] : [`retry-after: ${retryAfter}`]),
    ...headers,
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
