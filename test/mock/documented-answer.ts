import type { Request, Response } from 'express';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import { documented } from '../conformance/contract/documented.ts';
import { asText } from '../conformance/wire/exchange.ts';
import type { MadeUpAnswers } from './dynamic.ts';
import { ownAddress, rewritten, withModel } from './examples.ts';
import { mediaOf } from './media.ts';
import type { Preference } from './prefer.ts';

const jsonLines = 'application/jsonl';

export interface Wanted {
  /** Address under which the client reached the mock, without a slash at the end. */
  base: string;
  preference: Preference | undefined;
  /** Where JSON values come from that nobody asked for by name; without it from the examples. */
  madeUp?: MadeUpAnswers;
}

/** A documented answer, in the media type that the client takes best, or in the first. */
export async function answerAsDocumented(
  request: Request,
  response: Response,
  { base, preference, madeUp }: Wanted,
): Promise<void> {
  const { operation } = request.context;
  if (operation === undefined) return;
  const { responses } = documented(operation.id);
  const status = preference?.status ?? usualStatus(responses.map((one) => one.status));
  const found = responses.find((one) => one.status === status);
  if (found === undefined) throw new Error(`${operation.id} has no answer ${status}`);
  response.statusCode = found.status;
  for (const { name, required, schema } of found.headers) {
    const value = headerValue(schema, required);
    if (value !== undefined && !response.hasHeader(name)) response.setHeader(name, ownAddress(value, base));
  }
  const types = found.content.map(({ mediaType }) => mediaType);
  const type = request.accepts(types) || types[0];
  const media = found.content.find(({ mediaType }) => mediaType === type);
  if (type === undefined || media === undefined) return void response.end();
  const { examples } = media;
  const named = examples.find(({ name }) => name === preference?.example);
  const file = mediaOf(type);
  // As the gateway does it.
  const full = /^application\/json$|^text\//.test(type) ? `${type}; charset=utf-8` : type;
  const send = (body: string | Buffer) =>
    response.writeHead(found.status, { 'content-type': full }).end(body);
  if (file !== undefined) send(file);
  else if (type === jsonLines) send(examples.map(({ value }) => `${JSON.stringify(value)}\n`).join(''));
  else if (type !== 'application/json') send(asText((named ?? examples[0])?.value ?? ''));
  else if (named !== undefined) send(JSON.stringify(named.value));
  else {
    const { originalUrl: url, body } = request as { originalUrl: string; body?: Json };
    const asked = { url, body, seed: preference?.seed };
    const made = await madeUp?.answer(documented(operation.id), found.status, media, asked);
    send(JSON.stringify(withOwnValues(made ?? examples[0]?.value ?? null, body, base)));
  }
}

/** The success; the plain request to a socket's path has none. */
const usualStatus = (statuses: readonly number[]): number | undefined =>
  statuses.find((status) => status >= 200 && status < 400) ?? statuses.find((status) => status === 426);

/** A value that a documented header may have; undefined when one that may be missing shows none. */
function headerValue({ examples, type }: JsonObject, required: boolean): string | undefined {
  const [first = required ? (type === 'integer' ? 1 : 'any') : undefined] = Array.isArray(examples)
    ? examples
    : [];
  return first === undefined ? undefined : asText(first);
}

/** The model that was asked for, and addresses that the mock really serves. */
function withOwnValues(answer: Json, body: Json | undefined, base: string): Json {
  const model = isObject(body) ? body.model : undefined;
  return rewritten(withModel(answer, model), (text) => ownAddress(text, base));
}
