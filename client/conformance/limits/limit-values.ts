import { isObject, type Json, type JsonObject, text } from '../../../openapi/tools/document.ts';
import { facets } from '../contract/schema-fields.ts';
import type { Keyword } from './limit-keywords.ts';

/** A value at a limit and one beyond it, to be tried: whether they fit the rest of a schema is for it to say. */
export interface Pair {
  at: Json;
  beyond: Json;
}

export interface Limited {
  /** The schema with the limit. */
  node: JsonObject;
  /** Values that are known to stand there. */
  like: readonly Json[];
  /** The schemas that the value is to fit. */
  of: readonly JsonObject[];
}

const address = 'https://files.example/a';
const dataUrl = 'data:image/png;base64,iVBORw0KGgo=';

/** Texts of which some break any pattern of the contract, and some fit it. */
const oddTexts = [
  '',
  '!',
  '-',
  'a',
  'a b',
  'image',
  '1',
  '9'.repeat(11),
  'x'.repeat(40),
  'alpha3-tts-flash-realtime',
  'voxa-v1',
  'ftp:a',
  address,
  dataUrl,
  'a\u0085b',
];

/** Pairs for one limit, the likeliest first. */
export function* pairs(
  document: JsonObject,
  keyword: Keyword,
  limit: Json,
  { node, like, of }: Limited,
): Generator<Pair> {
  const words = like.filter((one) => typeof one === 'string');
  const step = of.some(({ type }) => type === 'number') ? 0.01 : 1;
  const number = Number(limit);
  switch (keyword) {
    case 'maxLength':
      return yield* lengths(number, number + 1, words);
    case 'minLength':
      return yield* lengths(number, number - 1, words);
    case 'maximum':
      return yield { at: number, beyond: number + step };
    case 'minimum':
      return yield { at: number, beyond: number - step };
    case 'exclusiveMaximum':
      return yield { at: number - step, beyond: number };
    case 'exclusiveMinimum':
      return yield { at: number + step, beyond: number };
    case 'maxItems':
      return yield* lists(number, number + 1, like, itemsOf(document, of));
    case 'minItems':
      return yield* lists(number, number - 1, like, itemsOf(document, of));
    case 'maxContains': {
      const wanted = samples(document, node.contains ?? {});
      const items = wanted.flatMap((one) => itemsOf(document, of).map((item) => merged(item, one)));
      for (const list of like.filter((one) => Array.isArray(one)))
        for (const item of items) yield { at: list, beyond: [...list, item] };
      return yield* lists(number, number + 1, [], items);
    }
    case 'maxProperties':
      return yield { at: {}, beyond: { a: 1 } };
    case 'minProperties':
      for (const object of like.filter(isObject)) {
        const some = (count: number) => Object.fromEntries(Object.entries(object).slice(0, count));
        yield { at: some(number), beyond: some(number - 1) };
      }
      return;
    case 'enum':
      for (const value of Array.isArray(limit) ? limit.toReversed() : [])
        yield { at: value, beyond: unlike(value) };
      return;
    case 'const':
      return yield { at: limit, beyond: unlike(limit) };
    case 'pattern':
      return yield* matching(new RegExp(text(limit), 'u'), [...new Set([...words, ...oddTexts])]);
    default:
  }
}

function* matching(pattern: RegExp, texts: readonly string[]): Generator<Pair> {
  const good = texts.filter((one) => pattern.test(one));
  const bad = texts.filter((one) => !pattern.test(one));
  for (const [index, beyond] of bad.entries()) yield { at: good[index % good.length] ?? '', beyond };
}

/** Texts of two lengths: like those known, host names, and lists of ids. */
function* lengths(at: number, beyond: number, words: readonly string[]): Generator<Pair> {
  const padded = (text: string) => (length: number) => text.slice(0, length).padEnd(length, 'a');
  const labels = (length: number) =>
    `${'a.'.repeat(length).slice(0, Math.max(0, length - 1))}a`.slice(0, length);
  const listed = (length: number) => `${'a'.repeat(128)},`.repeat(Math.ceil(length / 129)).slice(0, length);
  for (const make of [...words, '', address].map(padded).concat(labels, listed))
    yield { at: make(at), beyond: make(beyond) };
}

function* lists(at: number, beyond: number, like: readonly Json[], items: readonly Json[]): Generator<Pair> {
  const known = like.filter((one) => Array.isArray(one));
  for (const list of known)
    if (list.length === at) yield { at: list, beyond: [...list, ...list].slice(0, beyond) };
  const filled = (length: number, item: Json) => Array<Json>(length).fill(item);
  for (const item of [...known.flatMap((list) => list.slice(0, 1)), ...items])
    yield { at: filled(at, item), beyond: filled(beyond, item) };
}

function unlike(value: Json): Json {
  if (typeof value === 'number') return value + 1000;
  return typeof value === 'boolean' ? !value : `${text(value)}x`;
}

const merged = (item: Json, wanted: Json): Json =>
  isObject(item) && isObject(wanted) ? { ...item, ...wanted } : wanted;

/** What may stand in the list that the schemas describe, one of each kind. */
const itemsOf = (document: JsonObject, of: readonly JsonObject[]): Json[] =>
  of.flatMap(({ items }) => (items === undefined ? [] : samples(document, items)));

const known = new WeakMap<JsonObject, Json[]>();

/** Values that a schema describes: its examples, else what its type and limits allow. */
function samples(document: JsonObject, schema: Json): Json[] {
  if (!isObject(schema)) return described(document, schema);
  const found = known.get(schema) ?? described(document, schema);
  known.set(schema, found);
  return found;
}

function described(document: JsonObject, schema: Json): Json[] {
  const all = facets(document, schema);
  const told = all.flatMap(({ examples, const: only, enum: list }) => [
    ...(Array.isArray(examples) ? examples : []),
    ...(only === undefined ? [] : [only]),
    ...(Array.isArray(list) ? list : []),
  ]);
  const kinds = all.filter(({ oneOf, anyOf }) => oneOf === undefined && anyOf === undefined);
  const branches = all.flatMap(({ oneOf }) => (Array.isArray(oneOf) ? oneOf : []));
  const objects = [...branches, ...(branches.length === 0 ? [schema] : [])].flatMap((one) => {
    const parts = facets(document, one);
    return parts.some(({ type }) => type === 'object') ? [completed(document, {}, parts)] : [];
  });
  return [...told, ...objects, ...kinds.flatMap((one) => plain(document, one, all))];
}

function plain(document: JsonObject, { type }: JsonObject, all: readonly JsonObject[]): Json[] {
  const types = Array.isArray(type) ? type : [type];
  return types.flatMap((one): Json[] => {
    if (one === 'string') {
      const patterns = all.flatMap(({ pattern }) =>
        typeof pattern === 'string' ? [new RegExp(pattern, 'u')] : [],
      );
      const isAddress = all.some(({ format }) => format === 'uri');
      const texts = isAddress ? [address, dataUrl] : ['a', address, dataUrl];
      return texts.filter((one) => patterns.every((pattern) => pattern.test(one)));
    }
    if (one === 'integer' || one === 'number') {
      const bounds = all.flatMap(({ minimum, maximum }) => [minimum, maximum]);
      return [1, 0, ...bounds.filter((bound) => typeof bound === 'number')];
    }
    if (one === 'boolean') return [true, false];
    if (one === 'array') return itemsOf(document, all).map((item) => [item]);
    return [];
  });
}

/** An object with the fields that any of the schemas requires and it lacks. */
export function completed(
  document: JsonObject,
  object: JsonObject,
  schemas: readonly JsonObject[],
): JsonObject {
  const result = { ...object };
  for (const { required } of schemas) {
    for (const name of Array.isArray(required) ? required : []) {
      if (typeof name !== 'string' || name in result) continue;
      const properties = schemas.map((one) => (isObject(one.properties) ? one.properties[name] : undefined));
      const allOf = properties.filter((one) => isObject(one));
      const least = Math.max(
        ...allOf.map(({ minimum }) => (typeof minimum === 'number' ? minimum : -Infinity)),
      );
      const fitting = samples(document, { allOf }).filter((one) => typeof one !== 'number' || one >= least);
      if (fitting[0] !== undefined) result[name] = fitting[0];
    }
  }
  return result;
}
