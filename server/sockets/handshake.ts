import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { OperationId } from '../../generated/operations.ts';
import type { Channel } from '../channels/channel.ts';
import { bearerKey } from '../http/authenticate.ts';
import type { Gateway } from '../http/gateway.ts';
import { gatewayStopping } from '../http/readiness.ts';
import { asFailure, failureBody } from '../http/render-failure.ts';
import { findRoute, type Operation, requireOneHost } from '../http/routes.ts';
import { requirePlainValues } from '../http/value-problem.ts';
import { Failure, notServed } from '../lib/failure.ts';
import { findModel, requireProtocol } from '../models/catalogue.ts';
import type { Connection } from './connection.ts';

export type SocketProtocol = 'realtime' | 'inference';

const protocols: ReadonlyMap<OperationId, SocketProtocol> = new Map([
  ['openRealtimeSocket', 'realtime'],
  ['openInferenceSocket', 'inference'],
]);

/** The subprotocol that is chosen when it is offered. */
export const subprotocol = 'realtime';

/** Whether a request with an `Upgrade` header opens a socket; any other is answered as if it had none. */
export function opensSocket(request: IncomingMessage): boolean {
  const websocket = request.headers.upgrade?.toLowerCase() === 'websocket';
  return websocket && request.method === 'GET' && protocolOf(request) !== undefined;
}

/** What a handshake that has passed the checks is about. */
export interface Admission extends Pick<Connection, 'key' | 'model'> {
  protocol: SocketProtocol;
  /** The channels that serve the model; at least one. */
  channels: readonly Channel[];
}

/**
 * The checks before the switch of protocols, in the order of an HTTP request.
 *
 * @throws Failure 401, 400, 404, 403 or 503, as HTTP has it.
 */
export async function admit(gateway: Gateway, request: IncomingMessage): Promise<Admission> {
  requireOneHost(request);
  const protocol = protocolOf(request);
  if (protocol === undefined) throw new Failure(404, 'path_not_found', 'This path is no socket.');
  if (gateway.draining) throw gatewayStopping();
  const secret = readKey(request, protocol);
  const { keys } = gateway;
  const address = gateway.addressOf(request);
  const check = () => keys.getCached(secret, address) ?? keys.authenticate(secret, address);
  const caller = await check();
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
      gateway.access.require(key.caller, model);
    },
    watch: (changed: () => Promise<void>) => gateway.keyWatcher.watch(secret, changed),
  };
  return { protocol, key, model, channels };
}

function protocolOf(request: IncomingMessage): SocketProtocol | undefined {
  const operation = operationOf(request);
  return operation === undefined ? undefined : protocols.get(operation.id);
}

/** The operation that a handshake calls; undefined: the path has none. */
export function operationOf({ url = '' }: IncomingMessage): Operation | undefined {
  return findRoute(url.split('?', 1)[0] ?? '')?.methods.get('get')?.operation;
}

/** @throws Failure 401 when there is no key, or two different ones. */
function readKey({ headers }: IncomingMessage, protocol: SocketProtocol): string {
  const bearer = bearerKey(headers);
  // Browsers cannot set the header.
  const offered = protocol === 'realtime' ? (headers['sec-websocket-protocol'] ?? '').split(',') : [];
  const browser = offered.map((one) => /insecure-api-key\.(\S+)$/.exec(one.trim())?.[1]).find(Boolean);
  if (bearer !== undefined && browser !== undefined && bearer !== browser) {
    const message = 'authorization and sec-websocket-protocol carry different keys; send one.';
    throw new Failure(401, 'invalid_api_key', message);
  }
  const key = bearer ?? browser;
  if (key !== undefined) return key;
  const ways =
    protocol === 'realtime'
      ? '"Authorization: Bearer <API_KEY>" or the subprotocol "openai-insecure-api-key.<API_KEY>"'
      : '"Authorization: Bearer <API_KEY>"';
  throw new Failure(401, 'invalid_api_key', `authorization: send your API key in ${ways}.`);
}

/** @throws Failure 400 when the query does not name one model. */
function readModel(url: string): string {
  const at = url.indexOf('?');
  const named = at < 0 ? [] : new URLSearchParams(url.slice(at + 1)).getAll('model');
  const [model = ''] = named;
  if (model === '') throw new Failure(400, 'invalid_request', 'model: is required.');
  if (named.length > 1) throw new Failure(400, 'invalid_request', 'model: send it once.');
  requirePlainValues({ model }, 'query');
  if (model.length > 200)
    throw new Failure(400, 'invalid_request', 'model: must have at most 200 characters.');
  return model;
}

/** Answers a handshake as the ordinary HTTP request that it still is, and closes the connection. */
export function refuseUpgrade(
  socket: Duplex,
  requestId: string,
  error: unknown,
  headers: readonly string[] = [],
): Failure {
  const failure = asFailure(error);
  const { status, retryAfter } = failure;
  const body = JSON.stringify(failureBody(failure, requestId, 'generic'));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `x-request-id: ${requestId}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...(retryAfter === undefined ? [] : [`retry-after: ${retryAfter}`]),
    ...headers,
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  return failure;
}
