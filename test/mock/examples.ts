import type { OperationId } from '../../generated/operations.ts';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import { documented } from '../conformance/contract/documented.ts';
import { fileFor, mediaPath } from './media.ts';

/** A documented answer, by the name of its example. @throws Error when the contract has none of that name */
export function exampleOf(operation: OperationId, name: string, mediaType = 'application/json'): Json {
  const named = documented(operation)
    .responses.filter(({ status }) => status < 400)
    .flatMap(({ content }) => content.filter((media) => media.mediaType === mediaType))
    .flatMap(({ examples }) => examples);
  const found = named.find((example) => example.name === name);
  if (found === undefined) throw new Error(`${operation} has no example ${name} of ${mediaType}`);
  return found.value;
}

/** A copy in which every text is what `write` makes of it, and every value what `fill` makes of it and its key. */
export function rewritten(
  value: Json,
  write: (text: string) => string,
  fill: (key: string, value: Json) => Json = (_, same) => same,
): Json {
  if (typeof value === 'string') return write(value);
  if (Array.isArray(value)) return value.map((item) => rewritten(item, write, fill));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [
    write(key),
    rewritten(fill(key, item ?? null), write, fill),
  ]);
  return Object.fromEntries(entries);
}

/** The addresses of the contract's examples become those of files that the mock really serves. */
export function ownAddress(text: string, base: string): string {
  if (text.startsWith('https://gateway.example/')) return base + new URL(text).pathname;
  if (!text.startsWith('https://files.example/')) return text;
  const file = fileFor(new URL(text).pathname.split('.').at(-1) ?? '');
  return file === undefined ? text : `${base}${mediaPath}/${file}`;
}

/** The model that the request asked for stands in the answer, where it stands in the example. */
export function withModel(answer: Json, model: unknown): Json {
  if (!isObject(answer) || typeof answer.model !== 'string' || typeof model !== 'string') return answer;
  return { ...answer, model } satisfies JsonObject;
}
