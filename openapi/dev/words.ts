import { isObject, type Json, type JsonObject, objects, operationsOf } from '../tools/document.ts';
import { statusesOf } from '../tools/errors.ts';
import type { Sources } from '../tools/outputs.ts';

/** How many places of one thing are told; the others are only counted. */
const shown = 4;

/** What differs between two contracts, a line for each operation, schema, event, error code and model. */
export function changesInWords(before: Sources, after: Sources): string[] {
  const things = thingsOf(after);
  const old = thingsOf(before);
  const lines: string[] = [];
  for (const [name, thing] of things) {
    const was = old.get(name);
    if (was === undefined) lines.push(`${name} is new`);
    else if (!equal(was, thing)) lines.push(`${name}: ${placesInWords(differences(was, thing))}`);
  }
  for (const name of old.keys()) if (!things.has(name)) lines.push(`${name} is gone`);
  return lines;
}

/** Everything with a name of its own: `operation createSpeech` -> what is said of it. */
function thingsOf({ openapi, asyncapi, errors, models }: Sources): Map<string, Json> {
  const things = new Map<string, Json>();
  for (const { id, method, path, node, aliasOf } of operationsOf(openapi)) {
    const { parameters, requestBody, ...others } = node;
    if (aliasOf === undefined)
      things.set(`operation ${id}`, {
        address: `${method.toUpperCase()} ${path}`,
        parameters: byName(parameters),
        requestBody: requestBody ?? null,
        ...others,
      });
  }
  addComponents(things, openapi, '');
  for (const [name, channel] of objects(asyncapi.channels)) things.set(`channel ${name}`, channel);
  for (const [name, operation] of objects(asyncapi.operations))
    things.set(`event operation ${name}`, operation);
  addComponents(things, asyncapi, 'of events');
  const { paths: _, components: _openapi, ...head } = openapi;
  const { channels: _channels, operations: _operations, components: _asyncapi, ...eventsHead } = asyncapi;
  things.set('head of the HTTP document', head);
  things.set('head of the event document', eventsHead);
  for (const error of errors)
    things.set(`error ${[error.code, ...statusesOf(error)].join(' ')}`, plain(error));
  for (const model of models.models) things.set(`model ${model.id}`, plain(model));
  for (const [name, family] of Object.entries(models.families)) things.set(`family ${name}`, plain(family));
  for (const [name, voices] of Object.entries(models.voice_sets))
    things.set(`voice set ${name}`, plain(voices));
  return things;
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

/** Schemas that both documents share are told once. */
function addComponents(things: Map<string, Json>, document: JsonObject, of: string): void {
  for (const [kind, components] of objects(document.components)) {
    for (const [name, node] of objects(components)) {
      const known = `${kinds[kind] ?? kind} ${name}`;
      const told = things.get(known);
      if (told === undefined) things.set(known, node);
      else if (!equal(told, node)) things.set(`${known} ${of}`, node);
    }
  }
}

/** Parameters in a list are known by their names. */
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

/** The smallest places at which two values differ. */
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

function placesInWords(found: readonly Difference[]): string {
  const lines = found.slice(0, shown).map(({ place, before, after }) => {
    if (before === undefined && after === undefined) return place;
    if (before === undefined) return `${place} added${isTree(after) ? '' : ` (${short(after)})`}`;
    if (after === undefined) return `${place} taken out`;
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
