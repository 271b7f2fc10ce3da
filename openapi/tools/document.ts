/** Helpers to read a bundled OpenAPI or AsyncAPI document, in which every `$ref` is local. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Entries of an object with object values. Empty if the object is absent. */
export const objects = (value: Json | undefined): [string, JsonObject][] =>
  isObject(value)
    ? Object.entries(value).filter((entry): entry is [string, JsonObject] => isObject(entry[1]))
    : [];

export const strings = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** Returns a string unchanged, and an empty string for any other value. */
export const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Resolves local `$ref`s of a node. `$at` is the pointer of the last one. */
export function deref(document: JsonObject, node: Json | undefined): JsonObject & { $at?: string } {
  if (!isObject(node)) return {};
  if (typeof node.$ref !== 'string') return node;
  return { $at: node.$ref, ...deref(document, at(document, node.$ref)) };
}

function at(document: JsonObject, pointer: string): Json {
  let node: Json | undefined = document;
  for (const part of pointer.replace(/^#\//, '').split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    node = isObject(node) || Array.isArray(node) ? (node as JsonObject)[key] : undefined;
  }
  if (node === undefined) throw new Error(`${pointer} does not exist`);
  return node;
}

/** Last segment of a `$ref`. */
export const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** `realtime-socket` and `realtimeSocket` become `RealtimeSocket`. */
export const pascal = (name: string): string =>
  name.replace(/(^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, _gap, letter: string) => letter.toUpperCase());

const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

export interface Operation {
  id: string;
  method: string;
  path: string;
  node: JsonObject;
  /** operationId of the original operation, if this is a copy under another prefix. */
  aliasOf: string | undefined;
}

/** All operations of an OpenAPI document, in the order of the paths. */
export function operationsOf(openapi: JsonObject): Operation[] {
  return objects(openapi.paths).flatMap(([path, item]) =>
    objects(item)
      .filter(([method]) => methods.has(method))
      .map(([method, node]) => ({
        id: text(node.operationId),
        method,
        path,
        node,
        aliasOf: typeof node['x-alias-of'] === 'string' ? node['x-alias-of'] : undefined,
      })),
  );
}
