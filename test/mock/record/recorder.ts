import type { NextFunction, Request, Response } from 'express';
import { operations } from '../../../generated/operations.ts';
import type { Json } from '../../../openapi/tools/document.ts';
import { Failure } from '../../../server/lib/failure.ts';
import { documented } from '../../conformance/contract/documented.ts';
import { eventsOf, hashOf, type RecordedExample, type RecordedResponse } from './example.ts';
import type { ExamplesFolder } from './examples-folder.ts';
import { masked, maskedText } from './mask.ts';

export interface RecorderOptions {
  /** URL of the gateway without a trailing slash. */
  gateway: string;
  /** Key to send. Default: the key of the client. */
  key: string | undefined;
  /** Maximum size of a stored body in bytes. */
  limit: number;
  folder: ExamplesFolder;
  /** Logs a response that was not stored. */
  log: (line: string) => void;
}

/** Headers of one connection, or between the client and the mock. */
const hopByHopRequestHeaders =
  /^(?:host|connection|keep-alive|transfer-encoding|content-length|te|upgrade|expect|origin|cookie|accept-encoding|prefer|x-mock-.*)$/;
const hopByHopResponseHeaders =
  /^(?:connection|keep-alive|transfer-encoding|date|set-cookie|access-control-.*)$/;

/** Forwards every request to a gateway, streams the response, and stores a copy without secrets as an example. */
export function recordResponses(options: RecorderOptions) {
  return (request: Request, response: Response, next: NextFunction): void => {
    forward(options, request, response).catch(next);
  };
}

async function forward(options: RecorderOptions, request: Request, response: Response): Promise<void> {
  const { operation, signal } = request.context;
  if (operation === undefined) return;
  const body = Buffer.concat(await request.toArray());
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !hopByHopRequestHeaders.test(name)) headers.set(name, String(value));
  headers.set('accept-encoding', 'identity');
  const clientKeys = [headers.get('authorization')?.replace(/^Bearer +/i, ''), headers.get('x-api-key')];
  if (options.key !== undefined) {
    headers.set('authorization', `Bearer ${options.key}`);
    headers.delete('x-api-key');
  }
  const gatewayResponse = await fetch(options.gateway + request.originalUrl, {
    method: request.method,
    headers,
    redirect: 'manual',
    signal,
    ...(body.length > 0 && { body }),
  }).catch((cause: unknown) => {
    throw new Failure(502, 'do_request_failed', `The gateway at ${options.gateway} could not be reached.`, {
      cause,
    });
  });
  response.statusCode = gatewayResponse.status;
  for (const [name, value] of gatewayResponse.headers)
    if (!hopByHopResponseHeaders.test(name)) response.setHeader(name, value);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of gatewayResponse.body ?? []) {
    size += chunk.length;
    if (size <= options.limit) chunks.push(chunk);
    if (!response.write(chunk)) await waitForDrain(response);
  }
  const secrets = [options.key, ...clientKeys].filter(
    (one): one is string => typeof one === 'string' && one.length > 3,
  );
  // Service operations need no recording, and file URLs grant access.
  if (operations[operation.id].area !== 'service' && request.method !== 'HEAD') {
    const metadata = { operation: operation.id, request: requestOf(request, body) };
    const content = size <= options.limit ? Buffer.concat(chunks) : undefined;
    const recorded = toRecordedResponse(gatewayResponse, operation.id, content, size, secrets);
    const line = `${operation.id} ${gatewayResponse.status}: ${size} bytes are over --record-limit`;
    if (content === undefined)
      options.log(recorded === undefined ? `not stored: ${line}` : `stored without its file: ${line}`);
    const isMedia = recorded?.media !== undefined;
    if (recorded !== undefined) await options.folder.store(metadata, recorded, isMedia ? content : undefined);
  }
  response.end();
}

/** Resolves when the client accepts more data or has disconnected. */
const waitForDrain = (response: Response): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });

/** Returns the stored part of a request: a hash instead of its body. */
export function requestOf(request: Request, body: Buffer | Json | undefined): RecordedExample['request'] {
  const [path = '', query = ''] = request.originalUrl.split('?', 2);
  return {
    method: request.method,
    path,
    query,
    bodySha256: hashOf(Buffer.isBuffer(body) ? jsonOf(body) : body),
    events: String(request.headers['x-native-sse']).toLowerCase() === 'enable',
  };
}

/** Undefined without a body, or if it is not JSON: the boundary of a form differs each time. */
function jsonOf(body: Buffer): Json | undefined {
  try {
    return JSON.parse(body.toString()) as Json;
  } catch {
    return undefined;
  }
}

/** Returns a response without secrets. Undefined if it is too large and not a file. */
function toRecordedResponse(
  { status, headers }: globalThis.Response,
  operation: RecordedExample['operation'],
  body: Buffer | undefined,
  size: number,
  secrets: readonly string[],
): RecordedResponse | undefined {
  const type = headers.get('content-type') ?? '';
  const documentedHeaders =
    documented(operation).responses.find((one) => one.status === status)?.headers ?? [];
  const names = ['content-type', ...documentedHeaders.map(({ name }) => name.toLowerCase())].filter(
    (name) => !name.endsWith('request-id'),
  );
  const recorded: RecordedResponse = {
    status,
    headers: Object.fromEntries(
      names.flatMap((name) => {
        const value = headers.get(name);
        return value === null ? [] : [[name, maskedText(value, secrets)]];
      }),
    ),
  };
  if (size === 0) return recorded;
  const isText = /^text\/|json/.test(type);
  if (!isText) return { ...recorded, media: { type: type.split(';')[0] ?? type, bytes: size } };
  if (body === undefined) return undefined;
  const text = body.toString();
  if (type.startsWith('text/event-stream')) {
    const events = eventsOf(text).map((event) =>
      'data' in event
        ? { ...event, data: masked(event.data, secrets) }
        : { ...event, text: maskedText(event.text, secrets) },
    );
    return { ...recorded, events };
  }
  const json = jsonOf(body);
  return json === undefined
    ? { ...recorded, text: maskedText(text, secrets) }
    : { ...recorded, json: masked(json, secrets) };
}
