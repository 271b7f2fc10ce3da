import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type CatalogueModel, models, type Protocol } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import { documented } from '../../conformance/contract/documented.ts';
import { type Behavior, parseRequestedBehavior } from '../behaviors.ts';
import { withValues } from './examples.ts';
import { type Script, scripts } from './scripts.ts';

export interface HandshakeError {
  status: number;
  /** Replaces the message of the example. */
  message?: string;
}

export interface AcceptedHandshake {
  model: CatalogueModel;
  script: Script | undefined;
}

/** Query parameters and headers that set the behavior. A browser can set only query parameters. */
const mockParameter = /^(?:x-)?mock[-_](.+)$/;

/**
 * Parses the behavior that a handshake requests.
 *
 * @throws Failure 400 that names the parameter or header and its limit
 */
export function requestedByHandshake(id: OperationId, { url = '', headers }: IncomingMessage): Behavior {
  const parameters = [...new URL(url, 'http://mock').searchParams, ...Object.entries(headers)];
  const requested = parameters.flatMap(([name, value]): [string, string, string][] => {
    const field = mockParameter.exec(name)?.[1]?.replace('script', 'fault');
    return field === undefined ? [] : [[field, String(value), name]];
  });
  const texts = requested.map(([field, text]) => [field, text] as const);
  return parseRequestedBehavior(
    id,
    texts,
    (field) => requested.find(([one]) => one === field)?.[2] ?? `mock_${field}`,
  );
}

/** Checks a handshake. Accepts any key that is not empty. */
export function checkHandshake(
  { url = '', headers }: IncomingMessage,
  protocol: Protocol,
  fault: string | undefined,
): AcceptedHandshake | HandshakeError {
  const query = new URL(url, 'http://mock').searchParams;
  const script = fault === undefined ? undefined : scripts.get(fault);
  if (script?.rejectWith !== undefined) return { status: script.rejectWith };
  const bearer = /^Bearer +\S/i.test(headers.authorization ?? '');
  // Browsers cannot set the header. Only the realtime socket accepts the key as a subprotocol.
  const browser = /insecure-api-key\.[^\s,]/.test(headers['sec-websocket-protocol'] ?? '');
  if (!bearer && !(browser && protocol === 'realtime')) return { status: 401 };
  const id = query.get('model') ?? '';
  if (id === '') return { status: 400, message: 'model: is required.' };
  const model = models.find((one) => one.id === id);
  if (model === undefined) return { status: 404 };
  if (!model.protocols.includes(protocol))
    return { status: 400, message: `model: ${id} is not served on this socket.` };
  return { model, script };
}

/** Rejects a handshake with the example of the OpenAPI document. */
export function rejectHandshake(
  socket: Duplex,
  operationId: string,
  { status, message }: HandshakeError,
): void {
  const response = documented(operationId).responses.find((one) => one.status === status);
  const example = response?.content[0]?.examples[0]?.value;
  if (response === undefined || example === undefined) throw new Error(`${operationId} has no ${status}`);
  const requestId = `req_${crypto.randomUUID().replaceAll('-', '')}`;
  const values: JsonObject = { 'error.request_id': requestId };
  if (message !== undefined) values['error.message'] = message;
  const body = JSON.stringify(withValues(example, values));
  const known: Record<string, string> = { 'x-request-id': requestId, 'retry-after': '1' };
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...response.headers.map(({ name }) => `${name}: ${known[name] ?? ''}`),
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
