import type { FormValue } from './form-fields.ts';
import { fieldName } from './form-parts.ts';
import { parseJsonText } from './parse-json.ts';
import { requirePlainValues } from './value-problem.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Schema = { [key: string]: Json };

/**
 * Converts the texts of a form to the types of the JSON schema: numbers, booleans, lists of one item, and JSON text for
 * objects and lists. A text that cannot be converted stays a text, which validation refuses. `root` is the document of
 * the references.
 *
 * @throws Failure 400 that names a field with invalid JSON text
 */
export function convertForm(value: FormValue, schema: Json, root: Json): Json {
  return convert(value, expandSchemas([schema], root), root, []);
}

function convert(value: FormValue, schemas: readonly Schema[], root: Json, path: readonly string[]): Json {
  if (Array.isArray(value)) {
    const items = expandSchemas(
      schemas.flatMap(({ items: of }) => of ?? []),
      root,
    );
    return value.map((item, index) => convert(item, items, root, [...path, String(index)]));
  }
  if (typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const below = schemas.map(({ properties }) => property(properties, key));
        return [key, convert(inner, expandSchemas(below, root), root, [...path, key])];
      }),
    );
  }
  const types = new Set(schemas.flatMap(({ type }) => type ?? []));
  if (types.has('string')) return value;
  const opening = value.trimStart()[0];
  if ((types.has('object') && opening === '{') || (types.has('array') && opening === '[')) {
    const field = fieldName(path.join('.'));
    const parsed = parseJsonText(value, field) as Json;
    // Escapes in JSON text can produce characters that the form does not contain.
    requirePlainValues(parsed, field);
    return parsed;
  }
  if (types.has('array')) return convert([value], schemas, root, path);
  if (types.has('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  const numeric = (types.has('integer') || types.has('number')) && /^-?\d{1,15}(\.\d{1,15})?$/.test(value);
  return numeric ? Number(value) : value;
}

/** The schemas with all of their `allOf`, `anyOf`, `oneOf`, `then` and `else` members and references. */
export function expandSchemas(schemas: readonly (Json | undefined)[], root: Json): Schema[] {
  const found = new Set<Schema>();
  const visit = (node: Json | undefined): void => {
    if (!isSchema(node) || found.has(node)) return;
    found.add(node);
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const members = node[keyword];
      if (Array.isArray(members)) members.forEach(visit);
    }
    visit(node.then);
    visit(node.else);
    if (typeof node.$ref === 'string') visit(resolveReference(root, node.$ref));
  };
  schemas.forEach(visit);
  return [...found];
}

/** Resolves a reference such as `#/components/schemas/Name`. */
export function resolveReference(root: Json, pointer: string): Json | undefined {
  return pointer
    .slice(2)
    .split('/')
    .reduce<Json | undefined>(
      (at, part) => property(at, part.replaceAll('~1', '/').replaceAll('~0', '~')),
      root,
    );
}

/** The schema itself, or the one that it refers to. An empty schema if there is none. */
export function dereference(root: Json, node: Json | undefined): Schema {
  if (!isSchema(node)) return {};
  return typeof node.$ref === 'string' ? dereference(root, resolveReference(root, node.$ref)) : node;
}

export function property(node: Json | undefined, key: string): Json | undefined {
  return isSchema(node) && Object.hasOwn(node, key) ? node[key] : undefined;
}

export function isSchema(node: Json | undefined): node is Schema {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}
