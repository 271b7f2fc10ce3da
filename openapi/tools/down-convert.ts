import { deref, isObject, type Json, type JsonObject, objects, text } from './document.ts';

/** Converts a bundled 3.1 document to 3.0.3. Removes what 3.0 does not support; no schema becomes stricter. */
export function downConvert(openapi: JsonObject): JsonObject {
  const { jsonSchemaDialect: _, webhooks: __, ...rest } = openapi;
  const document = walk(rest, openapi) as JsonObject;
  return { ...document, openapi: '3.0.3', info: info(document.info) };
}

function info(node: Json | undefined): JsonObject {
  if (!isObject(node)) return {};
  const { summary: _, license, ...rest } = node;
  if (!isObject(license)) return rest;
  const { identifier, ...named } = license;
  return {
    ...rest,
    license: identifier ? { ...named, url: `https://spdx.org/licenses/${text(identifier)}.html` } : named,
  };
}

/** Copies everything outside schemas. Examples are not converted. */
function walk(node: Json, document: JsonObject, key = ''): Json {
  if (Array.isArray(node)) return node.map((item) => walk(item, document));
  if (!isObject(node) || key === 'example' || key === 'examples' || key.startsWith('x-')) return node;
  if (typeof node.$ref === 'string') return { $ref: node.$ref };
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => {
      if (name === 'schema' && isObject(value)) return [name, schema(value, document)];
      if (name === 'schemas' && isObject(value)) return [name, schemaMap(value, document)];
      // Names of headers, which may start with `x-`, are no keywords.
      if (name === 'headers' && isObject(value)) return [name, mapValues(value, document)];
      return [name, walk(value, document, name)];
    }),
  );
}

const mapValues = (map: JsonObject, document: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, walk(value, document)]));

const words = (list: string) => list.trim().split(/\s+/);

const constraints = new Set(
  words(`
    $defs $dynamicRef contains contentSchema dependentRequired dependentSchemas else if maxContains minContains
    patternProperties prefixItems propertyNames then unevaluatedItems unevaluatedProperties
  `),
);
const unknownIn30 = new Set([
  ...constraints,
  ...words('$comment $dynamicAnchor $id $schema const contentEncoding contentMediaType examples'),
]);

const schemaMap = (map: JsonObject, document: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, isObject(value) ? schema(value, document) : value]),
  );

/** Converts a schema and its subschemas. */
function schema(original: JsonObject, document: JsonObject): JsonObject {
  const node = withoutNullBranch(original, document);
  const { $ref, ...siblings } = node;
  // 3.0 ignores siblings of a $ref.
  if (typeof $ref === 'string') {
    return Object.keys(siblings).length > 0 ? { ...schema(siblings, document), allOf: [{ $ref }] } : { $ref };
  }
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(node)) {
    if (!unknownIn30.has(key)) copy[key] = keyword(key, value, document);
  }
  if (node.const !== undefined) copy.enum = [node.const];
  if (Array.isArray(node.examples) && node.examples[0] !== undefined) copy.example = node.examples[0];
  if (node.contentEncoding === 'base64') copy.format = 'byte';
  exclusive(copy, 'exclusiveMinimum', 'minimum');
  exclusive(copy, 'exclusiveMaximum', 'maximum');
  types(copy);
  unions(node, copy);
  restated(copy, document);
  // 3.0 requires items for arrays.
  if (copy.type === 'array') copy.items ??= {};
  return copy;
}

function keyword(key: string, value: Json, document: JsonObject): Json {
  if (key === 'properties' && isObject(value)) return schemaMap(value, document);
  if (['allOf', 'anyOf', 'oneOf'].includes(key) && Array.isArray(value)) {
    return value.map((item) => (isObject(item) ? schema(item, document) : item));
  }
  if (['items', 'not', 'additionalProperties'].includes(key) && isObject(value))
    return schema(value, document);
  return value;
}

/** Converts `X or null` to a copy of X with a nullable type, because 3.0 allows nullable only with a type. */
function withoutNullBranch(node: JsonObject, document: JsonObject): JsonObject {
  for (const key of ['anyOf', 'oneOf']) {
    const { [key]: branches, ...rest } = node;
    if (!Array.isArray(branches)) continue;
    const others = branches.filter((branch) => !(isObject(branch) && branch.type === 'null'));
    if (others.length === branches.length) continue;
    const { $at: _, ...only } = deref(document, others.length === 1 ? others[0] : undefined);
    // 3.0 has no equivalent for several types and null.
    return typeof only.type === 'string' ? { ...only, ...rest, type: [only.type, 'null'] } : rest;
  }
  return node;
}

function exclusive(
  node: JsonObject,
  flag: 'exclusiveMinimum' | 'exclusiveMaximum',
  limit: 'minimum' | 'maximum',
) {
  if (typeof node[flag] !== 'number') return;
  node[limit] = node[flag];
  node[flag] = true;
}

function types(node: JsonObject): void {
  if (!Array.isArray(node.type)) return;
  const nullable = node.type.includes('null');
  const kinds = node.type.filter((type) => type !== 'null');
  const [only] = kinds;
  delete node.type;
  if (kinds.length === 1 && only !== undefined) {
    node.type = only;
    if (nullable) node.nullable = true;
  } else if (!nullable) {
    node.anyOf ??= kinds.map((type): JsonObject => (type === 'array' ? { type, items: {} } : { type }));
  }
}

/**
 * Removes fields that a part of the `allOf` defines with the same type. Generators for 3.0 merge the parts of a schema, and
 * would declare such a field twice.
 */
function restated(node: JsonObject, document: JsonObject): void {
  if (!Array.isArray(node.allOf) || !isObject(node.properties)) return;
  const inherited = new Map(node.allOf.flatMap((part) => objects(deref(document, part).properties)));
  const own = objects(node.properties).filter(([name, field]) => {
    const type = inherited.get(name)?.type;
    return type === undefined || type !== field.type || field.enum !== undefined;
  });
  if (own.length > 0) node.properties = Object.fromEntries(own);
  else delete node.properties;
}

/** True if the conversion removes a constraint of the schema. */
const isLossy = (node: Json): boolean =>
  Object.entries(node ?? {}).some(
    ([key, value]) => constraints.has(key) || (typeof value === 'object' && isLossy(value)),
  );

/** Removes lossy branches of `not` and `oneOf`, which would reject valid values. */
function unions(node: JsonObject, copy: JsonObject): void {
  if (node.not !== undefined && isLossy(node.not)) delete copy.not;
  if (node.oneOf !== undefined && isLossy(node.oneOf)) {
    copy.anyOf = copy.oneOf ?? [];
    delete copy.oneOf;
  }
  if (!Array.isArray(copy.allOf)) return;
  copy.allOf = copy.allOf.filter((part) => Object.keys(part ?? {}).length > 0);
  if (copy.allOf.length === 0) delete copy.allOf;
}
