import { isObject, type Json, type JsonObject, text } from '../../../openapi/tools/document.ts';
import { applicableSchemas } from '../contract/schema-fields.ts';
import type { Keyword } from './limit-keywords.ts';

/** A candidate value at a limit and one beyond it. The schema decides whether the rest of it is satisfied. */
export interface Pair {
  at: Json;
  beyond: Json;
}

export interface Limited {
  /** The schema with the limit. */
  node: JsonObject;
  /** Values from examples. */
  samples: readonly Json[];
  /** All schemas that apply to the value. */
  of: readonly JsonObject[];
}

const address = 'https://files.example/a';
const dataUrl = 'data:image/png;base64,iVBORw0KGgo=';

/** For each pattern of the contract, some of these texts match it and some do not. */
const patternTexts = [
  '',
  '!',
  '-',
  'a',
  'a b',
  'image',
  '1',
  '480p',
  '9'.repeat(11),
  'x'.repeat(40),
  'alpha3-tts-flash-realtime',
  'voxa-v1',
  'ftp:a',
  address,
  dataUrl,
  'a\u0085b',
];

/** Yields pairs for one limit, the most likely first. */
export function* pairs(
  document: JsonObject,
  keyword: Keyword,
  limit: Json,
  { node, samples, of }: Limited,
): Generator<Pair> {
  const words = samples.filter((one) => typeof one === 'string');
  const step = of.some(({ type }) => type === 'number') ? 0.01 : 1;
  const number = Number(limit);
  switch (keyword) {
    case 'maxLength':
      return yield* textPairs(number, number + 1, words);
    case 'minLength':
      return yield* textPairs(number, number - 1, words);
    case 'maximum':
      return yield { at: number, beyond: number + step };
    case 'minimum':
      return yield { at: number, beyond: number - step };
    case 'exclusiveMaximum':
      return yield { at: number - step, beyond: number };
    case 'exclusiveMinimum':
      return yield { at: number + step, beyond: number };
    case 'maxItems':
      return yield* listPairs(number, number + 1, samples, itemsOf(document, of));
    case 'minItems':
      return yield* listPairs(number, number - 1, samples, itemsOf(document, of));
    case 'maxContains': {
      const wanted = samplesOf(document, node.contains ?? {});
      const items = wanted.flatMap((one) => itemsOf(document, of).map((item) => merged(item, one)));
      for (const list of samples.filter((one) => Array.isArray(one)))
        for (const item of items) yield { at: list, beyond: [...list, item] };
      return yield* listPairs(number, number + 1, [], items);
    }
    case 'maxProperties':
      return yield { at: {}, beyond: { a: 1 } };
    case 'minProperties':
      for (const object of samples.filter(isObject)) {
        const some = (count: number) => Object.fromEntries(Object.entries(object).slice(0, count));
        yield { at: some(number), beyond: some(number - 1) };
      }
      return;
    case 'enum':
      for (const value of Array.isArray(limit) ? limit.toReversed() : [])
        yield { at: value, beyond: otherValue(value) };
      return;
    case 'const':
      return yield { at: limit, beyond: otherValue(limit) };
    case 'pattern':
      return yield* patternPairs(new RegExp(text(limit), 'u'), [...new Set([...words, ...patternTexts])]);
    default:
  }
}

function* patternPairs(pattern: RegExp, texts: readonly string[]): Generator<Pair> {
  const good = texts.filter((one) => pattern.test(one));
  const bad = texts.filter((one) => !pattern.test(one));
  for (const [index, beyond] of bad.entries()) yield { at: good[index % good.length] ?? '', beyond };
}

/** Yields texts of two lengths: padded samples, host names and lists of ids. */
function* textPairs(at: number, beyond: number, words: readonly string[]): Generator<Pair> {
  const padded = (text: string) => (length: number) => text.slice(0, length).padEnd(length, 'a');
  const labels = (length: number) =>
    `${'a.'.repeat(length).slice(0, Math.max(0, length - 1))}a`.slice(0, length);
  const listed = (length: number) => `${'a'.repeat(128)},`.repeat(Math.ceil(length / 129)).slice(0, length);
  for (const make of [...words, '', address].map(padded).concat(labels, listed))
    yield { at: make(at), beyond: make(beyond) };
}

function* listPairs(
  at: number,
  beyond: number,
  samples: readonly Json[],
  items: readonly Json[],
): Generator<Pair> {
  const lists = samples.filter((one) => Array.isArray(one));
  for (const list of lists)
    if (list.length === at) yield { at: list, beyond: [...list, ...list].slice(0, beyond) };
  const filled = (length: number, item: Json) => Array<Json>(length).fill(item);
  for (const item of [...lists.flatMap((list) => list.slice(0, 1)), ...items])
    yield { at: filled(at, item), beyond: filled(beyond, item) };
}

function otherValue(value: Json): Json {
  if (typeof value === 'number') return value + 1000;
  return typeof value === 'boolean' ? !value : `${text(value)}x`;
}

const merged = (item: Json, wanted: Json): Json =>
  isObject(item) && isObject(wanted) ? { ...item, ...wanted } : wanted;

/** Returns sample items of a list, one of each kind. */
const itemsOf = (document: JsonObject, of: readonly JsonObject[]): Json[] =>
  of.flatMap(({ items }) => (items === undefined ? [] : samplesOf(document, items)));

const sampleCache = new WeakMap<JsonObject, Json[]>();

/** Returns values that a schema allows: its examples and values derived from its type and limits. */
function samplesOf(document: JsonObject, schema: Json): Json[] {
  if (!isObject(schema)) return deriveSamples(document, schema);
  const found = sampleCache.get(schema) ?? deriveSamples(document, schema);
  sampleCache.set(schema, found);
  return found;
}

function deriveSamples(document: JsonObject, schema: Json): Json[] {
  const all = applicableSchemas(document, schema);
  const listed = all.flatMap(({ examples, const: only, enum: list }) => [
    ...(Array.isArray(examples) ? examples : []),
    ...(only === undefined ? [] : [only]),
    ...(Array.isArray(list) ? list : []),
  ]);
  const kinds = all.filter(({ oneOf, anyOf }) => oneOf === undefined && anyOf === undefined);
  const branches = all.flatMap(({ oneOf }) => (Array.isArray(oneOf) ? oneOf : []));
  const objects = [...branches, ...(branches.length === 0 ? [schema] : [])].flatMap((one) => {
    const parts = applicableSchemas(document, one);
    return parts.some(({ type }) => type === 'object') ? [withRequiredFields(document, {}, parts)] : [];
  });
  return [...listed, ...objects, ...kinds.flatMap((one) => samplesOfType(document, one, all))];
}

function samplesOfType(document: JsonObject, { type }: JsonObject, all: readonly JsonObject[]): Json[] {
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

/** Adds the required fields that an object lacks. */
export function withRequiredFields(
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
      const minimumValue = Math.max(
        ...allOf.map(({ minimum }) => (typeof minimum === 'number' ? minimum : -Infinity)),
      );
      const candidates = samplesOf(document, { allOf }).filter(
        (one) => typeof one !== 'number' || one >= minimumValue,
      );
      if (candidates[0] !== undefined) result[name] = candidates[0];
    }
  }
  return result;
}
