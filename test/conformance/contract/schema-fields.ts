import { isObject, type Json, type JsonObject, objects, strings } from '../../../openapi/tools/document.ts';

/** Keywords with schemas that may apply to a value. `if` and `not` do not describe the value. */
const lists = ['allOf', 'anyOf', 'oneOf'];
const branches = ['then', 'else'];

/** Returns the node at a local pointer, without resolving it. */
export function nodeAt(document: JsonObject, pointer: string): Json | undefined {
  let node: Json | undefined = document;
  for (const part of pointer.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    node = isObject(node) || Array.isArray(node) ? (node as JsonObject)[key] : undefined;
  }
  return node;
}

/** Returns every schema that may apply to a value: the node, its references and all branches of both. */
export function applicableSchemas(
  document: JsonObject,
  node: unknown,
  visited = new Set<JsonObject>(),
): JsonObject[] {
  if (!isObject(node) || visited.has(node)) return [];
  visited.add(node);
  const inside = [
    ...lists.flatMap((key) => (Array.isArray(node[key]) ? node[key] : [])),
    ...branches.map((key) => node[key]),
    ...(typeof node.$ref === 'string' ? [nodeAt(document, node.$ref)] : []),
  ];
  return [node, ...inside.flatMap((one) => applicableSchemas(document, one, visited))];
}

export interface Field {
  /** Types that the branches allow. Empty if the schema has no such field. */
  types: string[];
  /** Whether a branch requires the field. */
  required: boolean;
  schemas: JsonObject[];
}

/** Describes the field at a path such as `a.b[].c` below any of the schemas. */
export function fieldAt(document: JsonObject, roots: readonly unknown[], path: string): Field {
  let schemas = roots.flatMap((root) => applicableSchemas(document, root));
  let required = false;
  for (const part of path.replaceAll('[]', '.[]').split('.')) {
    required = schemas.some((schema) => strings(schema.required).includes(part));
    const next = schemas.flatMap((schema) => (part === '[]' ? itemsOf(schema) : propertyOf(schema, part)));
    schemas = next.flatMap((node) => applicableSchemas(document, node));
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
