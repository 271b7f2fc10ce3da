import type { NextFunction, Request, Response } from 'express';
import { operations } from '../../../generated/operations.ts';
import type { Json } from '../../../openapi/tools/document.ts';
import { Failure } from '../../../server/lib/failure.ts';
import { documented } from '../../conformance/contract/documented.ts';
import { eventsOf, hashOf, type RecordedAnswer, type RecordedExample } from './example.ts';
import type { ExamplesFolder } from './examples-folder.ts';
import { masked, maskedText } from './mask.ts';

export interface RecorderOptions {
  /** Address of a gateway, without a slash at the end. */
  gateway: string;
  /** Sent in place of the client's own; without one the client's goes on. */
  key: string | undefined;
  /** Largest body that is kept, in bytes. */
  limit: number;
  folder: ExamplesFolder;
  /** Takes a line about an answer that was not kept. */
  tell: (line: string) => void;
}

/** Headers that hold for one connection, or are between the client and the mock. */
const ownHeaders =
  /^(?:host|connection|keep-alive|transfer-encoding|content-length|te|upgrade|expect|origin|cookie|accept-encoding|prefer|x-mock-.*)$/;
const answersOwn = /^(?:connection|keep-alive|transfer-encoding|date|set-cookie|access-control-.*)$/;

/** Hands every request to a gateway, passes its answer on as it comes, and keeps a copy without secrets as an example. */
export function recorder(options: RecorderOptions) {
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
    if (value !== undefined && !ownHeaders.test(name)) headers.set(name, String(value));
  headers.set('accept-encoding', 'identity');
  const clients = [headers.get('authorization')?.replace(/^Bearer +/i, ''), headers.get('x-api-key')];
  if (options.key !== undefined) {
    headers.set('authorization', `Bearer ${options.key}`);
    headers.delete('x-api-key');
  }
  const answer = await fetch(options.gateway + request.originalUrl, {
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
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) if (!answersOwn.test(name)) response.setHeader(name, value);
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of answer.body ?? []) {
    size += piece.length;
    if (size <= options.limit) pieces.push(piece);
    if (!response.write(piece)) await drained(response);
  }
  const secrets = [options.key, ...clients].filter(
    (one): one is string => typeof one === 'string' && one.length > 3,
  );
  // What the gateway serves to everybody says nothing, and the address of a file is a permission.
  if (operations[operation.id].area !== 'service' && request.method !== 'HEAD') {
    const about = { operation: operation.id, request: requestOf(request, body) };
    const whole = size <= options.limit ? Buffer.concat(pieces) : undefined;
    const recorded = recordedAnswer(answer, operation.id, whole, size, secrets);
    const line = `${operation.id} ${answer.status}: ${size} bytes are over --record-limit`;
    if (whole === undefined)
      options.tell(recorded === undefined ? `not kept: ${line}` : `kept without its file: ${line}`);
    const isMedia = recorded?.media !== undefined;
    if (recorded !== undefined) await options.folder.keep(about, recorded, isMedia ? whole : undefined);
  }
  response.end();
}

/** Resolves when the client takes more, or has gone. */
const drained = (response: Response): Promise<void> =>
  new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });

/** What is kept of a request: nothing that it holds, but a mark to know it again by. */
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

/** Undefined for no body and one that is no JSON: a form has another boundary each time. */
function jsonOf(body: Buffer): Json | undefined {
  try {
    return JSON.parse(body.toString()) as Json;
  } catch {
    return undefined;
  }
}

/** An answer as it is kept; undefined for one that is too large and has no file. */
function recordedAnswer(
  { status, headers }: globalThis.Response,
  operation: RecordedExample['operation'],
  body: Buffer | undefined,
  size: number,
  secrets: readonly string[],
): RecordedAnswer | undefined {
  const type = headers.get('content-type') ?? '';
  const kept = documented(operation).responses.find((one) => one.status === status)?.headers ?? [];
  const names = ['content-type', ...kept.map(({ name }) => name.toLowerCase())].filter(
    (name) => !name.endsWith('request-id'),
  );
  const answer: RecordedAnswer = {
    status,
    headers: Object.fromEntries(
      names.flatMap((name) => {
        const value = headers.get(name);
        return value === null ? [] : [[name, maskedText(value, secrets)]];
      }),
    ),
  };
  if (size === 0) return answer;
  const isText = /^text\/|json/.test(type);
  if (!isText) return { ...answer, media: { type: type.split(';')[0] ?? type, bytes: size } };
  if (body === undefined) return undefined;
  const text = body.toString();
  if (type.startsWith('text/event-stream')) {
    const events = eventsOf(text).map((event) =>
      'data' in event
        ? { ...event, data: masked(event.data, secrets) }
        : { ...event, text: maskedText(event.text, secrets) },
    );
    return { ...answer, events };
  }
  const json = jsonOf(body);
  return json === undefined
    ? { ...answer, text: maskedText(text, secrets) }
    : { ...answer, json: masked(json, secrets) };
}
