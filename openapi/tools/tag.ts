import { isObject, type Json, type JsonObject, objects, refName } from './document.ts';

export interface Tag {
  /** Keys from the message down to the tag, e.g. `['header', 'action']`. */
  path: string[];
  /** Tag value -> message name. */
  values: Map<string, string>;
}

/** Finds the field with a different constant in each message. The shallowest field wins. */
export function findTag(schemas: Record<string, JsonObject>, messages: string[]): Tag | undefined {
  const constants = messages.map((name) => constantsOf(schemas, schemas[name] ?? {}));
  for (const path of constants[0]?.keys() ?? []) {
    const values = new Map<string, string>();
    messages.forEach((name, index) => {
      const value = constants[index]?.get(path);
      if (value !== undefined) values.set(value, name);
    });
    if (values.size === messages.length) return { path: path.split('/'), values };
  }
  return undefined;
}

/** All string constants of a schema by the path of their field. */
function constantsOf(
  schemas: Record<string, JsonObject>,
  schema: JsonObject,
  path: string[] = [],
): Map<string, string> {
  const found = new Map<string, string>();
  if (path.length > 3) return found;
  const value = schema.const ?? soleValue(schema.enum);
  if (typeof value === 'string') found.set(path.join('/'), value);
  const add = (more: Map<string, string>) => more.forEach((constant, at) => void found.set(at, constant));
  if (typeof schema.$ref === 'string') add(constantsOf(schemas, schemas[refName(schema.$ref)] ?? {}, path));
  for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) {
    if (isObject(part)) add(constantsOf(schemas, part, path));
  }
  for (const [key, property] of objects(schema.properties))
    add(constantsOf(schemas, property, [...path, key]));
  return new Map([...found].sort(([a], [b]) => a.split('/').length - b.split('/').length));
}

const soleValue = (values: Json | undefined) =>
  Array.isArray(values) && values.length === 1 ? values[0] : undefined;
