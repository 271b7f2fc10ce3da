import { deref, isObject, type Json, type JsonObject, objects, text } from '../../openapi/tools/document.ts';
import { type Keyword, keywords } from '../conformance/limits/limit-keywords.ts';

/** Limits of one schema: keyword and value. */
export type Bounds = { readonly [K in Keyword]?: Json };

/** Limits by location, such as `SpeechRequest.speed`, `OfficialTaskRequest.content[]` or `listVideos?limit`. */
export type Limits = Readonly<Record<string, Bounds>>;

/** One limit of a bundle. */
export interface Limit {
  place: string;
  keyword: Keyword;
  value: Json;
  /** Whether it is on or below an `x-decision`. */
  decided: boolean;
  /** JSON pointer of its schema. */
  pointer: string;
}

/** Maps of names to nodes. Their keys are never keywords. */
const maps = new Set([
  'channelBindings',
  'channels',
  'content',
  'headers',
  'messages',
  'operations',
  'parameters',
  'paths',
  'patternProperties',
  'properties',
  'requestBodies',
  'responses',
  'schemas',
]);

/** Keys of values, which contain no schemas. */
const data = new Set([...keywords, 'example', 'examples', 'servers', 'value']);

const inSchemas =
  /^#\/(channels|components\/(schemas|channelBindings))\/|\/(schema|headers\/[^/]+|parameters\/[^/]+)(\/|$)/;

/** Yields every limit of an OpenAPI or AsyncAPI bundle, in document order. */
export function* limitsOf(document: JsonObject): Generator<Limit> {
  yield* below(document, '#', false, false, document);
}

function* below(
  node: Json | undefined,
  pointer: string,
  decided: boolean,
  isMap: boolean,
  document: JsonObject,
): Generator<Limit> {
  if (Array.isArray(node)) {
    for (const [index, one] of node.entries())
      yield* below(one, `${pointer}/${index}`, decided, false, document);
    return;
  }
  if (!isObject(node)) return;
  // A decision about a whole operation does not cover the limits of its parameters.
  const known = decided || (!isMap && inSchemas.test(pointer) && text(node['x-decision']) !== '');
  if (!isMap) {
    for (const keyword of keywords) {
      const value = node[keyword];
      if (value === undefined) continue;
      yield { place: placeOf(pointer, document), keyword, value, decided: known, pointer };
    }
  }
  for (const [name, value] of Object.entries(node)) {
    if (!isMap && (data.has(name) || name.startsWith('x-'))) continue;
    yield* below(value, `${pointer}/${escaped(name)}`, known, !isMap && maps.has(name), document);
  }
}

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
const plain = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** Returns the short location of a pointer: schemas and parameters by name, operations by id. */
export function placeOf(pointer: string, document: JsonObject): string {
  const parts = pointer.split('/').slice(1).map(plain);
  if (parts[0] === 'components') {
    const [, kind = '', name = '', ...rest] = parts;
    return `${kind === 'schemas' ? '' : `${kind}/`}${name}${inSchema(rest)}`;
  }
  if (parts[0] === 'paths') return inPath(parts, document);
  return parts.join('/');
}

function inPath(
  [, path = '', method = '', kind = '', index = '', ...rest]: string[],
  document: JsonObject,
): string {
  const item = new Map(objects(document.paths)).get(path);
  const operation = new Map(objects(item)).get(method);
  const name = text(operation?.operationId) || `${method} ${path}`;
  if (kind !== 'parameters') return `${name} ${[index, ...rest].join('/')}`;
  const parameters = operation?.parameters;
  const parameter = Array.isArray(parameters) ? parameters[Number(index)] : undefined;
  return `${name}?${isObject(parameter) ? text(parameter.name) : index}${inSchema(rest)}`;
}

/** `properties/a/items/then` → `.a[]/then`. */
function inSchema(parts: readonly string[]): string {
  const [head, next, ...rest] = parts;
  if (head === undefined) return '';
  if (head === 'properties' && next !== undefined) return `.${next}${inSchema(rest)}`;
  const following = parts.slice(1);
  if (head === 'items') return `[]${inSchema(following)}`;
  if (head === 'schema') return inSchema(following);
  return `/${head}${inSchema(following)}`;
}

/** Returns the limits of client input: parameters, request bodies, client events and handshake queries. */
export function requestLimits(document: JsonObject): Limit[] {
  const components = document.components as JsonObject;
  const roots = [
    ...objects(document.paths).flatMap(([, item]) =>
      Object.values(item).flatMap((node) =>
        isObject(node) ? [node.parameters, node.requestBody] : Array.isArray(node) ? [node] : [],
      ),
    ),
    ...objects(document.operations).flatMap(([, { action, messages }]) =>
      action === 'receive' ? [messages] : [],
    ),
    ...(isObject(components.channelBindings) ? [components.channelBindings] : []),
  ];
  const reached = new Set<string>();
  const follow = (node: Json | undefined): void => {
    for (const reference of references(node)) {
      if (reached.has(reference)) continue;
      reached.add(reference);
      follow(deref(document, { $ref: reference }));
    }
  };
  roots.forEach(follow);
  const inRequests =
    /^#\/(paths\/[^/]+\/(parameters|[^/]+\/(parameters|requestBody))|components\/channelBindings)\//;
  return [...limitsOf(document)].filter(
    ({ pointer }) => inRequests.test(pointer) || reached.has(pointer.split('/').slice(0, 4).join('/')),
  );
}

/** Returns every `$ref` below a node, except in examples. */
function references(node: Json | undefined): string[] {
  if (Array.isArray(node)) return node.flatMap(references);
  if (!isObject(node)) return [];
  const own = typeof node.$ref === 'string' ? [node.$ref] : [];
  const below = Object.entries(node).flatMap(([name, value]) =>
    name === 'examples' ? [] : references(value),
  );
  return [...own, ...below];
}
