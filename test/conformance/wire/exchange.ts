import { isObject, type Json, type JsonObject } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation, Media } from '../contract/documented.ts';
import type { HttpResponse, Target } from './http-response.ts';

/** Changes to a documented request. */
export interface Variation {
  /** Name of the documented example to start from. Default: the first. */
  example?: string;
  /** Media type of that example, if several media types have one. */
  mediaType?: string;
  /** Fields to set in the body of the example, at any depth. `undefined` removes a field. */
  change?: { readonly [field: string]: Change };
  /** A body to send instead: a string unchanged, other values as JSON or as a form. `null` sends no body. */
  body?: Json;
  path?: Readonly<Record<string, string>>;
  /** A list repeats the parameter. */
  query?: Readonly<Record<string, string | number | readonly string[]>>;
  /** `undefined` removes a header. */
  headers?: Readonly<Record<string, string | undefined>>;
  method?: string;
}

type Change = Json | undefined | { readonly [field: string]: Change };

/** A complete request. */
export interface Request {
  /** In upper case. */
  method: string;
  url: string;
  /** Path and query. */
  path: string;
  headers: Headers;
  body: string | FormData | undefined;
}

/** Builds the documented request of an operation with the changes of a variation. */
export function requestOf(
  target: Target,
  operation: DocumentedOperation,
  variation: Variation = {},
): Request {
  const headers = new Headers({ authorization: `Bearer ${target.key}` });
  for (const { name, in: place, required, examples } of operation.parameters) {
    if (place === 'header' && required) headers.set(name, asText(examples[0]));
  }
  // A server refuses it, but the mock accepts every credential.
  for (const name of operation.credentialHeaders) headers.set(name, target.key);
  const body = bodyOf(operation, variation);
  // fetch sets the content type of a form, because it contains the boundary.
  if (body !== undefined && !(body instanceof FormData)) headers.set('content-type', 'application/json');
  for (const [name, value] of Object.entries(variation.headers ?? {})) {
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  }
  const method = variation.method ?? operation.method.toUpperCase();
  const path = pathOf(operation, variation);
  return { method, url: target.url + path, path, headers, body };
}

/**
 * Sends a request and reads the whole response, without following redirects.
 *
 * @throws Error when the connection fails or `signal` aborts
 */
export async function send(
  { method, url, headers, body }: Request,
  signal?: AbortSignal,
): Promise<HttpResponse> {
  const init = { method, headers, redirect: 'manual' as const, ...(body !== undefined && { body }) };
  const response = await fetch(url, { ...init, ...(signal !== undefined && { signal }) });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, body: bytes };
}

/** Returns path and query, with documented examples for the required parameters. */
export function pathOf(
  { path, parameters }: DocumentedOperation,
  { path: own, query }: Variation = {},
): string {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const example = parameters.find((one) => one.in === 'path' && one.name === name)?.examples[0];
    return encodeURIComponent(own?.[name] ?? asText(example));
  });
  const required = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name, examples }): [string, string] => [name, asText(examples[0])]);
  const search = new URLSearchParams([
    ...required.filter(([name]) => query?.[name] === undefined),
    ...Object.entries(query ?? {}).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
    ),
  ]).toString();
  return search === '' ? filled : `${filled}?${search}`;
}

/** Formats a value for a URL, a header or a form. */
export const asText = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);

const mediaFor = ({ requests }: DocumentedOperation, { mediaType, example }: Variation): Media | undefined =>
  requests.find(
    (one) =>
      (mediaType === undefined || one.mediaType === mediaType) &&
      one.examples.some(({ name }) => example === undefined || name === example),
  );

function bodyOf(operation: DocumentedOperation, variation: Variation): string | FormData | undefined {
  const { body, example, mediaType, change } = variation;
  if (body === null) return undefined;
  if (body !== undefined && mediaType === 'multipart/form-data') return form(body);
  if (body !== undefined) return typeof body === 'string' ? body : JSON.stringify(body);
  const media = mediaFor(operation, variation);
  if (media === undefined) return undefined;
  const value = exampleOf(media, example);
  if (media.mediaType === 'multipart/form-data') return form(value);
  return JSON.stringify(change === undefined ? value : changed(value, change));
}

const exampleOf = ({ examples }: Media, wanted: string | undefined): Json =>
  examples.find(({ name }) => wanted === undefined || name === wanted)?.value ?? null;

function changed(value: Json, change: NonNullable<Variation['change']>): JsonObject {
  const result = isObject(value) ? { ...value } : {};
  for (const [field, to] of Object.entries(change)) {
    if (to === undefined) delete result[field];
    else if (isChange(to)) result[field] = changed(result[field] ?? null, to);
    else result[field] = to;
  }
  return result;
}

const isChange = (value: Change): value is { readonly [field: string]: Change } => isObject(value);

function form(value: Json): FormData {
  const data = new FormData();
  for (const [name, part] of Object.entries(isObject(value) ? value : {})) {
    for (const one of Array.isArray(part) ? part : [part]) data.append(name, asText(one));
  }
  return data;
}
