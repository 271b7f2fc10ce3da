import type { Request, Response } from 'express';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import { documented } from '../conformance/contract/documented.ts';
import { asText } from '../conformance/wire/exchange.ts';
import { localUrl, mapValues, withModel } from './examples.ts';
import type { GeneratedResponses } from './generated-responses.ts';
import { mediaOf } from './media.ts';
import type { Preference } from './prefer.ts';

const jsonLines = 'application/jsonl';

export interface ResponseOptions {
  /** URL under which the client reached the mock, without a trailing slash. */
  base: string;
  preference: Preference | undefined;
  /** Generates JSON values if no example is selected by name. Default: the first example. */
  generated?: GeneratedResponses;
}

/** Sends a documented response in the media type that the client prefers, or in the first one. */
export async function sendDocumentedResponse(
  request: Request,
  response: Response,
  { base, preference, generated }: ResponseOptions,
): Promise<void> {
  const { operation } = request.context;
  if (operation === undefined) return;
  const { responses } = documented(operation.id);
  const status = preference?.status ?? defaultStatus(responses.map((one) => one.status));
  const found = responses.find((one) => one.status === status);
  if (found === undefined) throw new Error(`${operation.id} has no response ${status}`);
  response.statusCode = found.status;
  for (const { name, required, schema } of found.headers) {
    const value = headerValue(schema, required);
    if (value !== undefined && !response.hasHeader(name)) response.setHeader(name, localUrl(value, base));
  }
  const types = found.content.map(({ mediaType }) => mediaType);
  const type = (requestsEvents(request) && types.find(isEvents)) || request.accepts(types) || types[0];
  const media = found.content.find(({ mediaType }) => mediaType === type);
  if (type === undefined || media === undefined) return void response.end();
  const { examples } = media;
  const named = examples.find(({ name }) => name === preference?.example);
  const file = mediaOf(type);
  // Like the gateway.
  const contentType = /^application\/json$|^text\//.test(type) ? `${type}; charset=utf-8` : type;
  const send = (body: string | Buffer) =>
    response.writeHead(found.status, { 'content-type': contentType }).end(body);
  if (file !== undefined) send(file);
  else if (type === jsonLines) send(examples.map(({ value }) => `${JSON.stringify(value)}\n`).join(''));
  else if (type !== 'application/json') send(asText((named ?? examples[0])?.value ?? ''));
  else if (named !== undefined) send(JSON.stringify(named.value));
  else {
    const { originalUrl: url, body } = request as { originalUrl: string; body?: Json };
    const requestKey = { url, body, seed: preference?.seed };
    const generatedValue = await generated?.generate(
      documented(operation.id),
      found.status,
      media,
      requestKey,
    );
    send(JSON.stringify(localize(generatedValue ?? examples[0]?.value ?? null, body, base)));
  }
}

const isEvents = (mediaType: string) => mediaType === 'text/event-stream';

/** Whether a request asks for an event stream. In the contract, `stream` of speech asks for chunks instead. */
function requestsEvents({ context, headers, body }: Request): boolean {
  if (String(headers['x-native-sse']).toLowerCase() === 'enable') return true;
  if (!isObject(body)) return false;
  return context.operation?.id === 'createMessage' ? body.stream === true : body.stream_format === 'sse';
}

/** Returns the status of success, or 426 for a plain request to a socket. */
const defaultStatus = (statuses: readonly number[]): number | undefined =>
  statuses.find((status) => status >= 200 && status < 400) ?? statuses.find((status) => status === 426);

/** Returns a valid value of a documented header. Undefined for an optional header without an example. */
function headerValue({ examples, type }: JsonObject, required: boolean): string | undefined {
  const [first = required ? (type === 'integer' ? 1 : 'any') : undefined] = Array.isArray(examples)
    ? examples
    : [];
  return first === undefined ? undefined : asText(first);
}

/** Replaces the model by the requested one, and URLs by URLs of the mock. */
function localize(generate: Json, body: Json | undefined, base: string): Json {
  const model = isObject(body) ? body.model : undefined;
  return mapValues(withModel(generate, model), (text) => localUrl(text, base));
}
