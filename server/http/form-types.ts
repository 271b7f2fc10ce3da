import type { FormValue } from './form-fields.ts';
import { fieldName } from './form-parts.ts';
import { JsonReader, parseJson } from './json-reader.ts';
import { requirePlain } from './value-problem.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Schema = { [key: string]: Json };

/** The size of all texts together is looked at where they are read. */
const unlimited = { bytes: Number.POSITIVE_INFINITY, textBytes: Number.POSITIVE_INFINITY };

/**
 * Gives a form's texts the types that the JSON schema has at their places: numbers, booleans, lists of one, and
 * objects and lists that came as JSON text. A text that is none of these stays one, and the check that follows says
 * so. `root` is the document that references point into.
 *
 * @throws Failure 400 naming the field whose JSON text is none
 */
export function typed(value: FormValue, schema: Json, root: Json): Json {
  return convert(value, expand([schema], root), root, []);
}

function convert(value: FormValue, schemas: readonly Schema[], root: Json, path: readonly string[]): Json {
  if (Array.isArray(value)) {
    const items = expand(
      schemas.flatMap(({ items: of }) => of ?? []),
      root,
    );
    return value.map((item, index) => convert(item, items, root, [...path, String(index)]));
  }
  if (typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const below = schemas.map(({ properties }) => property(properties, key));
        return [key, convert(inner, expand(below, root), root, [...path, key])];
      }),
    );
  }
  const types = new Set(schemas.flatMap(({ type }) => type ?? []));
  if (types.has('string')) return value;
  const opening = value.trimStart()[0];
  if ((types.has('object') && opening === '{') || (types.has('array') && opening === '[')) {
    new JsonReader(unlimited).take(Buffer.from(value));
    const field = fieldName(path.join('.'));
    const parsed = parseJson(value, field) as Json;
    // Escapes of JSON text can make characters that the form itself does not hold.
    requirePlain(parsed, field);
    return parsed;
  }
  if (types.has('array')) return convert([value], schemas, root, path);
  if (types.has('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  const numeric = (types.has('integer') || types.has('number')) && /^-?\d{1,15}(\.\d{1,15})?$/.test(value);
  return numeric ? Number(value) : value;
}

/** The schemas and all that they are made of: whatever one of them says about a place counts. */
export function expand(schemas: readonly (Json | undefined)[], root: Json): Schema[] {
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
    if (typeof node.$ref === 'string') visit(resolve(root, node.$ref));
  };
  schemas.forEach(visit);
  return [...found];
}

/** What a reference of the form `#/components/schemas/Name` points to. */
export function resolve(root: Json, pointer: string): Json | undefined {
  return pointer
    .slice(2)
    .split('/')
    .reduce<Json | undefined>(
      (at, part) => property(at, part.replaceAll('~1', '/').replaceAll('~0', '~')),
      root,
    );
}

export function property(node: Json | undefined, key: string): Json | undefined {
  return isSchema(node) && Object.hasOwn(node, key) ? node[key] : undefined;
}

export function isSchema(node: Json | undefined): node is Schema {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}
