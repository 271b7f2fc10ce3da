import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type CatalogueModel, models, type Protocol } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import { documented } from '../../conformance/contract/documented.ts';
import { type Behaviour, readWishes } from '../behaviours.ts';
import { filled } from './examples.ts';
import { type Script, scripts } from './scripts.ts';

export interface Refusal {
  status: number;
  /** In place of the words of the document's example. */
  message?: string;
}

export interface Admission {
  model: CatalogueModel;
  script: Script | undefined;
}

/** Query parameters and headers of a handshake that say how the mock behaves; a browser can set only the first. */
const wish = /^(?:x-)?mock[-_](.+)$/;

/**
 * What the handshake asks for.
 *
 * @throws Failure 400 that names the parameter or header and its limit
 */
export function wishesOfHandshake(id: OperationId, { url = '', headers }: IncomingMessage): Behaviour {
  const asked = [...new URL(url, 'http://mock').searchParams, ...Object.entries(headers)];
  const wishes = asked.flatMap(([name, value]): [string, string, string][] => {
    const field = wish.exec(name)?.[1]?.replace('script', 'fault');
    return field === undefined ? [] : [[field, String(value), name]];
  });
  const texts = wishes.map(([field, text]) => [field, text] as const);
  return readWishes(id, texts, (field) => wishes.find(([one]) => one === field)?.[2] ?? `mock_${field}`);
}

/** The checks before the switch of protocols. Any key that is not empty is good. */
export function admit(
  { url = '', headers }: IncomingMessage,
  protocol: Protocol,
  fault: string | undefined,
): Admission | Refusal {
  const query = new URL(url, 'http://mock').searchParams;
  const script = fault === undefined ? undefined : scripts.get(fault);
  if (script?.refuse !== undefined) return { status: script.refuse };
  const bearer = /^Bearer +\S/i.test(headers.authorization ?? '');
  // Browsers cannot set the header; only the realtime socket has another way.
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

/** Answers a handshake as the ordinary HTTP request that it still is, with the example of the OpenAPI document. */
export function refuse(socket: Duplex, operationId: string, { status, message }: Refusal): void {
  const response = documented(operationId).responses.find((one) => one.status === status);
  const example = response?.content[0]?.examples[0]?.value;
  if (response === undefined || example === undefined) throw new Error(`${operationId} has no ${status}`);
  const requestId = `req_${crypto.randomUUID().replaceAll('-', '')}`;
  const values: JsonObject = { 'error.request_id': requestId };
  if (message !== undefined) values['error.message'] = message;
  const body = JSON.stringify(filled(example, values));
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
