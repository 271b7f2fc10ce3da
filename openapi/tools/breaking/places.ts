import {
  deref,
  isObject,
  type Json,
  type JsonObject,
  objects,
  operationsOf,
  refName,
  strings,
  text,
} from '../document.ts';
import { messagesOf } from './as-http.ts';

/** The operations that use the places of a document. */
export interface Places {
  /** operationIds that use a place, sorted. Copies under another prefix are omitted. */
  operations(at: string): string[];
  /** True if a client sends what is described at the place. */
  isSent(at: string): boolean;
}

const unescaped = (part: string) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
export const escaped = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1');

/** Splits a pointer into unescaped keys. */
export const keysOf = (at: string): string[] => at.split('/').slice(1).map(unescaped);

/** Whether a place is the removal date of a deprecated operation, parameter or field. */
export const isSunsetDate = (at: string): boolean => /(?<!\/properties)\/x-sunset\/date$/.test(at);

/** Creates the places of an OpenAPI document. */
export function httpPlaces(openapi: JsonObject): Places {
  const users = new Map<string, Set<string>>();
  const sent = new Set<string>();
  for (const { id, path, node, aliasOf } of operationsOf(openapi)) {
    const callback = /^\/callbacks\/([^/]+)\//.exec(path)?.[1];
    const user = callback ?? aliasOf ?? id;
    const { responses, callbacks: _, ...request } = node;
    const item = deref(openapi, deref(openapi, openapi.paths)[path]);
    for (const place of reached(openapi, [request, item.parameters ?? null])) {
      add(users, place, user);
      if (callback === undefined || place.startsWith('#/components/schemas/')) sent.add(place);
    }
    for (const place of reached(openapi, [responses ?? null])) add(users, place, user);
    add(users, `#/paths/${escaped(path)}`, user);
  }
  const isResponse = /^#\/(paths\/.*\/responses\/|components\/(responses|headers)\/)/;
  return {
    operations(at) {
      const [area = '', path = '', method = ''] = keysOf(at);
      const item = area === 'paths' ? deref(openapi, deref(openapi, openapi.paths)[path]) : {};
      const own = operationsOf({ paths: { [path]: item } }).find((one) => one.method === method);
      if (own !== undefined && !path.startsWith('/callbacks/')) return [own.aliasOf ?? own.id];
      return [...(users.get(ownerOf(at)) ?? [])].sort();
    },
    isSent: (at) => !isResponse.test(at) && (at.startsWith('#/paths/') || sent.has(ownerOf(at))),
  };
}

/** Creates the places of an AsyncAPI document. `streams` maps a channel to the HTTP operations that return its events. */
export function eventPlaces(asyncapi: JsonObject, streams: ReadonlyMap<string, readonly string[]>): Places {
  const users = new Map<string, Set<string>>();
  const sent = new Set<string>();
  for (const [name, operation] of objects(asyncapi.operations)) {
    const channel = text((operation.channel as JsonObject | undefined)?.$ref);
    const labels = streams.get(refName(channel)) ?? [name];
    for (const label of labels) {
      add(users, channel, label);
      add(users, `#/operations/${name}`, label);
      for (const place of reached(asyncapi, messagesOf(asyncapi, operation))) {
        if (!place.startsWith('#/channels/')) add(users, place, label);
        if (operation.action === 'receive') sent.add(place);
      }
    }
  }
  return {
    operations: (at) => [...(users.get(ownerOf(at)) ?? [])].sort(),
    isSent: (at) => sent.has(ownerOf(at)),
  };
}

/** Maps each channel to the HTTP operations whose `x-events` names it. */
export function streamsOf(openapi: JsonObject): Map<string, string[]> {
  const streams = new Map<string, string[]>();
  for (const { id, node, aliasOf } of operationsOf(openapi)) {
    if (aliasOf !== undefined) continue;
    for (const [, response] of objects(node.responses))
      for (const [, media] of objects(deref(openapi, response).content)) {
        const channel = refName(text(media['x-events']));
        if (channel !== '') streams.getOrInsertComputed(channel, () => []).push(id);
      }
  }
  return streams;
}

function add(users: Map<string, Set<string>>, place: string, user: string): void {
  users.getOrInsertComputed(place, () => new Set()).add(user);
}

/** The component, channel, operation or path that contains a place. */
const ownerOf = (at: string) =>
  at
    .split('/')
    .slice(0, at.startsWith('#/components/') ? 4 : 3)
    .join('/');

/** All components and channels that nodes refer to, directly or indirectly. */
function reached(document: JsonObject, nodes: readonly Json[]): Set<string> {
  const found = new Set<string>();
  const visit = (node: Json | undefined): void => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!isObject(node)) return;
    if (typeof node.$ref === 'string' && node.$ref.startsWith('#/') && !found.has(node.$ref)) {
      found.add(node.$ref);
      found.add(ownerOf(node.$ref));
      visit(nodeAt(document, keysOf(node.$ref)));
    }
    Object.values(node).forEach(visit);
  };
  nodes.forEach(visit);
  return found;
}

const childOf = (node: Json | undefined, key: string): Json | undefined =>
  isObject(node) || Array.isArray(node) ? (node as JsonObject)[key] : undefined;

export const nodeAt = (document: JsonObject, keys: readonly string[]): Json | undefined =>
  keys.reduce<Json | undefined>(childOf, document);

/** Replaces the array positions of a pointer by names, so that it stays valid if an item is inserted. */
export function namedPointer(document: JsonObject, at: string): string {
  let node: Json | undefined = document;
  const names = keysOf(at).map((key) => {
    const parent = node;
    node = childOf(parent, key);
    return Array.isArray(parent) ? escaped(itemName(parent, Number(key))) : escaped(key);
  });
  return ['#', ...names].join('/');
}

/** The name of an array item. Its position if there is no name of its own. */
function itemName(list: readonly Json[], index: number): string {
  const name = nameOf(list[index]);
  const isUnique = name !== undefined && list.filter((item) => nameOf(item) === name).length === 1;
  return isUnique ? name : String(index);
}

function nameOf(item: Json | undefined): string | undefined {
  if (typeof item === 'string') return item;
  if (!isObject(item)) return undefined;
  const { $ref, name, in: place, title, url, required } = item;
  if (typeof $ref === 'string') return refName($ref);
  if (typeof name === 'string') return typeof place === 'string' ? `${place}:${name}` : name;
  const tag = objects(item.properties).find(([, { const: value }]) => typeof value === 'string');
  const requires = Array.isArray(required) ? `requires ${strings(required).join(', ')}` : undefined;
  return [title, url, tag?.[1].const, requires].find((one) => typeof one === 'string');
}
