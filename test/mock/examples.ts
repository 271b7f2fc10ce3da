import type { OperationId } from '../../generated/operations.ts';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import { documented } from '../conformance/contract/documented.ts';
import { fileFor, mediaPath } from './media.ts';

/** Returns an example of a documented success by name. @throws Error if there is none */
export function exampleOf(operation: OperationId, name: string, mediaType = 'application/json'): Json {
  const named = documented(operation)
    .responses.filter(({ status }) => status < 400)
    .flatMap(({ content }) => content.filter((media) => media.mediaType === mediaType))
    .flatMap(({ examples }) => examples);
  const found = named.find((example) => example.name === name);
  if (found === undefined) throw new Error(`${operation} has no example ${name} of ${mediaType}`);
  return found.value;
}

/** Returns a copy with all strings and keys mapped by `mapText`, and all field values mapped by `mapField`. */
export function mapValues(
  value: Json,
  mapText: (text: string) => string,
  mapField: (key: string, value: Json) => Json = (_, same) => same,
): Json {
  if (typeof value === 'string') return mapText(value);
  if (Array.isArray(value)) return value.map((item) => mapValues(item, mapText, mapField));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [
    mapText(key),
    mapValues(mapField(key, item ?? null), mapText, mapField),
  ]);
  return Object.fromEntries(entries);
}

/** Replaces a URL of an example by the URL of a file that the mock serves. */
export function localUrl(text: string, base: string): string {
  if (text.startsWith('https://gateway.example/')) return base + new URL(text).pathname;
  if (!text.startsWith('https://files.example/')) return text;
  const file = fileFor(new URL(text).pathname.split('.').at(-1) ?? '');
  return file === undefined ? text : `${base}${mediaPath}/${file}`;
}

/** Replaces the model of a response by the requested one. */
export function withModel(response: Json, model: unknown): Json {
  if (!isObject(response) || typeof response.model !== 'string' || typeof model !== 'string') return response;
  return { ...response, model } satisfies JsonObject;
}
