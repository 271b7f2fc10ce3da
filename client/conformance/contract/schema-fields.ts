import { isObject, type Json, type JsonObject, objects, strings } from '../../../openapi/tools/document.ts';

/** Branches that may hold for a value. What stands in `if` and `not` says nothing of it. */
const lists = ['allOf', 'anyOf', 'oneOf'];
const branches = ['then', 'else'];

/** The very node at a local pointer. */
export function referred(document: JsonObject, pointer: string): Json | undefined {
  let node: Json | undefined = document;
  for (const part of pointer.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    node = isObject(node) || Array.isArray(node) ? (node as JsonObject)[key] : undefined;
  }
  return node;
}

/** Every schema that a value may have to fit: the node, what it refers to, and all branches of both. */
export function facets(document: JsonObject, node: unknown, seen = new Set<JsonObject>()): JsonObject[] {
  if (!isObject(node) || seen.has(node)) return [];
  seen.add(node);
  const inside = [
    ...lists.flatMap((key) => (Array.isArray(node[key]) ? node[key] : [])),
    ...branches.map((key) => node[key]),
    ...(typeof node.$ref === 'string' ? [referred(document, node.$ref)] : []),
  ];
  return [node, ...inside.flatMap((one) => facets(document, one, seen))];
}

export interface Field {
  /** Every type that some branch gives it; empty when the schema has no such field. */
  types: string[];
  /** Some branch requires it of the object that it stands in. */
  required: boolean;
  schemas: JsonObject[];
}

/** A field by its path, `a.b[].c`, below any of the schemas. */
export function fieldAt(document: JsonObject, roots: readonly unknown[], path: string): Field {
  let schemas = roots.flatMap((root) => facets(document, root));
  let required = false;
  for (const part of path.replaceAll('[]', '.[]').split('.')) {
    required = schemas.some((schema) => strings(schema.required).includes(part));
    const next = schemas.flatMap((schema) => (part === '[]' ? itemsOf(schema) : propertyOf(schema, part)));
    schemas = next.flatMap((node) => facets(document, node));
  }
  const types = schemas.flatMap(({ type }) => (typeof type === 'string' ? [type] : strings(type)));
  return { types: [...new Set(types)], required, schemas };
}

const itemsOf = ({ items, prefixItems }: JsonObject) => [
  items,
  ...(Array.isArray(prefixItems) ? prefixItems : []),
];

const propertyOf = ({ properties }: JsonObject, name: string) =>
  objects(properties)
    .filter(([key]) => key === name)
    .map(([, schema]) => schema);
