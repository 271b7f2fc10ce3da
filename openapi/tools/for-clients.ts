import { deref, isObject, type Json, type JsonObject, objects, operationsOf, refName } from './document.ts';
import { withoutAliases } from './without-aliases.ts';

/**
 * Converts a bundled document to the one that client generators read. It has each operation once, one media type for each
 * request body, and no conditions, which no language can express as a type. Several generators lose the type around a
 * condition, and send no content type if an operation accepts several.
 */
export function forClients(openapi: JsonObject): JsonObject {
  const document = withJsonBodies(withoutAliases(openapi));
  return withoutUnusedSchemas(withoutConditions(document, document));
}

/** Removes the other media types of request bodies that accept JSON. */
function withJsonBodies(openapi: JsonObject): JsonObject {
  const copy = structuredClone(openapi);
  for (const { node } of operationsOf(copy)) {
    const { content } = isObject(node.requestBody) ? node.requestBody : {};
    if (!isObject(content) || content['application/json'] === undefined) continue;
    for (const type of Object.keys(content)) if (type !== 'application/json') delete content[type];
  }
  return copy;
}

/** Keywords that make one value depend on another, or that describe values which are not allowed. */
const conditions = [
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'contains',
  'minContains',
  'maxContains',
];

/** Keys of objects with names as keys, whose names are no keywords. */
const maps = new Set(['properties', 'patternProperties', 'headers', 'schemas', 'paths', 'responses']);
const isExample = (key: string) => ['example', 'examples', 'default', 'const', 'enum'].includes(key);

/** Copies a node without conditions. */
function withoutConditions<Node extends Json>(node: Node, document: JsonObject, isMap = false): Node {
  if (Array.isArray(node)) return node.map((item) => withoutConditions(item, document)) as Node;
  if (!isObject(node)) return node;
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(node)) {
    if (!isMap && (conditions.includes(key) || isRemovedUnion(key, value, node, document))) continue;
    const isCopied = !isMap && (isExample(key) || key.startsWith('x-'));
    const own = key === 'allOf' && !isMap ? withoutLimits(value, node, document) : value;
    if (Array.isArray(own) && own.length === 0 && key === 'allOf' && !isMap) continue;
    copy[key] = isCopied ? own : withoutConditions(own, document, !isMap && maps.has(key));
  }
  return copy as Node;
}

/** True for an `anyOf` or `oneOf` whose branches only list required fields of the schema around it. */
function isRemovedUnion(key: string, value: Json, owner: JsonObject, document: JsonObject): boolean {
  if ((key !== 'anyOf' && key !== 'oneOf') || !Array.isArray(value)) return false;
  const known = fieldsOf(owner, document);
  const type = typeOf(owner, document);
  return value.every((branch) => isObject(branch) && !branch.$ref && limits(branch, known, type, document));
}

/** The parts of an `allOf` without those that only limit fields of the others. */
function withoutLimits(parts: Json, owner: JsonObject, document: JsonObject): Json {
  if (!Array.isArray(parts)) return parts;
  return parts.filter((part, index) => {
    const { allOf: _, ...rest } = owner;
    const others = { ...rest, allOf: parts.toSpliced(index, 1) };
    const schema = deref(document, part);
    const type = typeOf(others, document);
    const hasRequired = Array.isArray(schema.required) && schema.required.length > 0;
    return (
      hasRequired ||
      !hasCondition(schema, document) ||
      !limits(schema, fieldsOf(others, document), type, document)
    );
  });
}

/** Keywords beside conditions that a schema may have which only limits known fields. */
const neutral = new Set(['title', 'description', 'required', 'minProperties', '$at']);

/** True if a schema adds no fields, items or values to a schema that has the known fields. */
function limits(
  schema: JsonObject,
  known: ReadonlySet<string>,
  ownerType: Json | undefined,
  document: JsonObject,
) {
  return Object.entries(schema).every(([key, value]): boolean => {
    if (neutral.has(key) || conditions.includes(key) || key.startsWith('x-')) return true;
    if (key === 'type') return value === ownerType;
    if (key === 'properties') return objects(value).every(([name]) => known.has(name));
    if (key === 'additionalProperties') return value === true;
    if (key === 'items') return ownerType === 'array';
    if ((key !== 'anyOf' && key !== 'oneOf' && key !== 'allOf') || !Array.isArray(value)) return false;
    return value.every((branch) => limits(deref(document, branch), known, ownerType, document));
  });
}

/** The type of a schema or of the first part of its `allOf` that has one. */
function typeOf(schema: JsonObject, document: JsonObject): Json | undefined {
  const { type, allOf } = deref(document, schema);
  if (type !== undefined || !Array.isArray(allOf)) return type;
  const types = allOf.map((part) => (isObject(part) ? typeOf(part, document) : undefined));
  return types.find((one) => one !== undefined);
}

/** Names of the fields that a schema and the parts of its `allOf` have. */
function fieldsOf(schema: JsonObject, document: JsonObject): Set<string> {
  const { properties, allOf } = deref(document, schema);
  const parts = Array.isArray(allOf) ? allOf : [];
  const inherited = parts.flatMap((part) => (isObject(part) ? [...fieldsOf(part, document)] : []));
  return new Set([...objects(properties).map(([name]) => name), ...inherited]);
}

/** True if the schema or a part of it has a condition, or only combines branches. */
function hasCondition(schema: JsonObject, document: JsonObject): boolean {
  const branches = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  return (
    conditions.some((key) => schema[key] !== undefined) ||
    branches.some((branch) => hasCondition(deref(document, branch), document)) ||
    (branches.length > 0 && schema.allOf === undefined && schema.properties === undefined)
  );
}

/** Removes the schemas that no operation and no other used component refers to. */
export function withoutUnusedSchemas(openapi: JsonObject): JsonObject {
  const components = isObject(openapi.components) ? openapi.components : {};
  const { schemas, ...others } = components;
  const all = new Map(objects(schemas));
  const used = new Set<string>();
  const visit = (node: Json): void => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!isObject(node)) return;
    if (typeof node.$ref === 'string' && node.$ref.startsWith('#/components/schemas/')) {
      const name = refName(node.$ref);
      const schema = all.get(name);
      if (!used.has(name) && schema) {
        used.add(name);
        visit(schema);
      }
    }
    for (const value of Object.values(node)) visit(value);
  };
  visit({ ...openapi, components: others });
  const kept = [...all].filter(([name]) => used.has(name));
  return { ...openapi, components: { ...components, schemas: Object.fromEntries(kept) } };
}
