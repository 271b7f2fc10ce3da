import { isObject, type Json, type JsonObject, objects, operationsOf } from '../tools/document.ts';
import { statusesOf } from '../tools/errors.ts';
import type { Sources } from '../tools/outputs.ts';

/** Maximum number of listed places per part. Further places are counted. */
const maxPlaces = 4;

/** Describes the differences of two contracts, one line per operation, schema, event, error code and model. */
export function describeChanges(before: Sources, after: Sources): string[] {
  const parts = namedParts(after);
  const old = namedParts(before);
  const lines: string[] = [];
  for (const [name, part] of parts) {
    const was = old.get(name);
    if (was === undefined) lines.push(`${name} is new`);
    else if (!equal(was, part)) lines.push(`${name}: ${describePlaces(differences(was, part))}`);
  }
  for (const name of old.keys()) if (!parts.has(name)) lines.push(`${name} was removed`);
  return lines;
}

/** All named parts of a contract: `operation createSpeech` -> its definition. */
function namedParts({ openapi, asyncapi, errors, models }: Sources): Map<string, Json> {
  const parts = new Map<string, Json>();
  for (const { id, method, path, node, aliasOf } of operationsOf(openapi)) {
    const { parameters, requestBody, ...others } = node;
    if (aliasOf === undefined)
      parts.set(`operation ${id}`, {
        address: `${method.toUpperCase()} ${path}`,
        parameters: byName(parameters),
        requestBody: requestBody ?? null,
        ...others,
      });
  }
  addComponents(parts, openapi, '');
  for (const [name, channel] of objects(asyncapi.channels)) parts.set(`channel ${name}`, channel);
  for (const [name, operation] of objects(asyncapi.operations))
    parts.set(`event operation ${name}`, operation);
  addComponents(parts, asyncapi, 'of the AsyncAPI document');
  const { paths: _, components: _openapi, ...head } = openapi;
  const { channels: _channels, operations: _operations, components: _asyncapi, ...eventsHead } = asyncapi;
  parts.set('root of the OpenAPI document', head);
  parts.set('root of the AsyncAPI document', eventsHead);
  for (const error of errors)
    parts.set(`error ${[error.code, ...statusesOf(error)].join(' ')}`, plain(error));
  for (const model of models.models) parts.set(`model ${model.id}`, plain(model));
  for (const [name, family] of Object.entries(models.families)) parts.set(`family ${name}`, plain(family));
  for (const [name, voices] of Object.entries(models.voice_sets))
    parts.set(`voice set ${name}`, plain(voices));
  return parts;
}

const kinds: Readonly<Record<string, string>> = {
  schemas: 'schema',
  parameters: 'parameter',
  responses: 'response',
  headers: 'header',
  messages: 'event',
  examples: 'example',
  securitySchemes: 'security scheme',
};

/** Adds components. A schema that both documents share is added once. */
function addComponents(parts: Map<string, Json>, document: JsonObject, of: string): void {
  for (const [kind, components] of objects(document.components)) {
    for (const [name, node] of objects(components)) {
      const known = `${kinds[kind] ?? kind} ${name}`;
      const existing = parts.get(known);
      if (existing === undefined) parts.set(known, node);
      else if (!equal(existing, node)) parts.set(`${known} ${of}`, node);
    }
  }
}

/** Converts a list of parameters to a map by name. */
const byName = (parameters: Json | undefined): Json =>
  Array.isArray(parameters)
    ? Object.fromEntries(parameters.map((one, index) => [nameOf(one) ?? String(index), one]))
    : null;

const nameOf = (node: Json): string | undefined => {
  const name = isObject(node) ? (node.name ?? node.$ref) : undefined;
  return typeof name === 'string' ? name.slice(name.lastIndexOf('/') + 1) : undefined;
};

const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

const equal = (one: Json | undefined, other: Json | undefined) =>
  JSON.stringify(one) === JSON.stringify(other);

interface Difference {
  place: string;
  before: Json | undefined;
  after: Json | undefined;
}

/** The innermost places at which two values differ. */
function differences(before: Json | undefined, after: Json | undefined, place = ''): Difference[] {
  if (equal(before, after)) return [];
  if (!isTree(before) || !isTree(after)) return [{ place, before, after }];
  const [old, now] = [entriesOf(before), entriesOf(after)];
  const found = [...new Set([...old.keys(), ...now.keys()])].flatMap((key) =>
    differences(old.get(key), now.get(key), place === '' ? key : `${place}.${key}`),
  );
  return found.length > 0 ? found : [{ place: `${place} (order)`, before: undefined, after: undefined }];
}

const isTree = (value: Json | undefined): value is JsonObject | Json[] =>
  isObject(value) || Array.isArray(value);

const entriesOf = (value: JsonObject | Json[]) => new Map<string, Json>(Object.entries(value));

function describePlaces(found: readonly Difference[]): string {
  const lines = found.slice(0, maxPlaces).map(({ place, before, after }) => {
    if (before === undefined && after === undefined) return place;
    if (before === undefined) return `${place} added${isTree(after) ? '' : ` (${short(after)})`}`;
    if (after === undefined) return `${place} removed`;
    return isTree(before) || isTree(after)
      ? `${place} changed`
      : `${place} ${short(before)} -> ${short(after)}`;
  });
  const others = found.length - lines.length;
  return [...lines, ...(others > 0 ? [`${others} more places`] : [])].join('; ');
}

function short(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 40 ? `${text.slice(0, 37)}…"` : text;
}
