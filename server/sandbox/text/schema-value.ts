import { isObject, type JsonObject } from '../http/json-body.ts';

/** Deeper lists are empty and deeper alternatives are null where the schema allows it, so that recursion ends. */
const maxDepth = 8;
/** Values beyond these limits are null, whatever the schema requires. */
const maxRequiredDepth = 32;
const maxValues = 10_000;
/** Longest list. */
const maxItems = 100;

interface Context {
  /** The whole schema, which contains the targets of references. */
  root: JsonObject;
  question: string;
  depth: number;
  /** Number of values so far, which all contexts of a schema share. */
  count: { values: number };
}

/** Creates a value that matches a JSON schema from the words of the question. */
export function createValue(schema: JsonObject, question: string): unknown {
  return valueOf(schema, rootContext(schema, question));
}

/** Creates an object that matches a JSON schema. Without `required`, it has all properties. */
export function createObject(schema: JsonObject, question: string): JsonObject {
  return objectOf(schema, rootContext(schema, question));
}

function rootContext(root: JsonObject, question: string): Context {
  return { root, question, depth: 0, count: { values: 0 } };
}

function valueOf(schema: unknown, context: Context): unknown {
  const { question, depth, count } = context;
  count.values += 1;
  if (!isObject(schema) || depth > maxRequiredDepth || count.values > maxValues) return null;
  const inner = { ...context, depth: depth + 1 };
  if (typeof schema.$ref === 'string') return valueOf(resolve(schema.$ref, context.root), inner);
  if ('const' in schema) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum))
    return schema.enum.find((one) => typeof one === 'string' && question.includes(one)) ?? schema.enum[0];
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (choices !== undefined) return valueOf(chooseAlternative(choices, depth), inner);
  if (Array.isArray(schema.allOf)) return valueOf(mergeAll([schema, ...schema.allOf], context.root), inner);
  return typedValue(schema, inner);
}

function typedValue(schema: JsonObject, context: Context): unknown {
  const types: readonly unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  switch (types.find((type) => type !== 'null') ?? types[0]) {
    case 'null':
      return null;
    case 'number':
      return findNumber(schema, context.question);
    case 'integer':
      return Math.trunc(findNumber(schema, context.question));
    case 'boolean':
      return true;
    case 'array':
      return listOf(schema, context);
    case 'object':
      return objectOf(schema, context);
    case undefined:
      return isObject(schema.properties) ? objectOf(schema, context) : findText(schema, context.question);
    default:
      return findText(schema, context.question);
  }
}

function objectOf({ properties, required }: JsonObject, context: Context): JsonObject {
  const known = Object.entries(isObject(properties) ? properties : {});
  const names: readonly unknown[] = Array.isArray(required) ? required : known.map(([name]) => name);
  return Object.fromEntries(
    known
      .filter(([name]) => names.includes(name))
      .map(([name, property]) => [name, valueOf(property, context)]),
  );
}

function listOf({ items, minItems }: JsonObject, context: Context): readonly unknown[] {
  const min = typeof minItems === 'number' ? minItems : 0;
  const usual = isObject(items) && context.depth < maxDepth ? 1 : 0;
  return Array.from({ length: Math.min(Math.max(min, usual), maxItems) }, () => valueOf(items, context));
}

/** Prefers a value to null, and null to further nesting. */
function chooseAlternative(choices: readonly unknown[], depth: number): unknown {
  const isNull = (choice: unknown) => isObject(choice) && choice.type === 'null';
  return choices.find((choice) => isNull(choice) === depth > maxDepth) ?? choices[0];
}

/** Merges the members of `allOf` into one schema. */
function mergeAll([whole = {}, ...members]: readonly unknown[], root: JsonObject): JsonObject {
  const { allOf: _, ...first } = isObject(whole) ? whole : {};
  return members.reduce<JsonObject>((merged, member) => {
    const next = isObject(member) && typeof member.$ref === 'string' ? resolve(member.$ref, root) : member;
    if (!isObject(next)) return merged;
    const properties = { ...asObject(merged.properties), ...asObject(next.properties) };
    const required = [...asList(merged.required), ...asList(next.required)];
    const hasNames = merged.required !== undefined || next.required !== undefined;
    return { ...merged, ...next, properties, ...(hasNames && { required }) };
  }, first);
}

const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Resolves a reference into the same schema, such as `#/$defs/Harbour`. */
function resolve(reference: string, root: JsonObject): unknown {
  const names = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  return names
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((node, name) => (isObject(node) ? node[name] : undefined), root);
}

/** Returns the first number of the question, or the nearest one in the range. */
function findNumber({ minimum, maximum }: JsonObject, question: string): number {
  const number = Number(/-?\d+(?:\.\d+)?/.exec(question)?.[0] ?? 0);
  const min = typeof minimum === 'number' ? minimum : number;
  const max = typeof maximum === 'number' ? maximum : number;
  return Math.min(Math.max(number, min), Math.max(max, min));
}

/** Values of the formats of texts. */
const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  hostname: 'example.com',
  uri: 'https://example.com/',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * Returns a value of the format, otherwise the quoted text, otherwise the last capitalized word within a sentence,
 * otherwise the whole question.
 */
function findText({ format }: JsonObject, question: string): string {
  const formatted = typeof format === 'string' ? formats[format] : undefined;
  const quoted = /["“]([^"”]+)["”]/.exec(question)?.[1];
  return formatted ?? quoted ?? question.match(/(?<=[\p{Ll},] )\p{Lu}[\p{L}-]+/gu)?.at(-1) ?? question.trim();
}
