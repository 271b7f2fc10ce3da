import type { FormValue } from './form-fields.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Schema = { readonly [key: string]: Json };

/**
 * Gives a form's texts the types that the JSON schema has at their places: numbers, booleans, lists of one. A text
 * that is none stays one, and the check that follows says so. `root` is the document that references point into.
 */
export function typed(value: FormValue, schema: Json, root: Json): Json {
  return convert(value, expand([schema], root), root);
}

function convert(value: FormValue, schemas: readonly Schema[], root: Json): Json {
  if (Array.isArray(value)) {
    const items = expand(
      schemas.flatMap(({ items: of }) => of ?? []),
      root,
    );
    return value.map((item) => convert(item, items, root));
  }
  if (typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const below = schemas.map(({ properties }) => property(properties, key));
        return [key, convert(inner, expand(below, root), root)];
      }),
    );
  }
  const types = new Set(schemas.flatMap(({ type }) => type ?? []));
  if (types.has('string')) return value;
  if (types.has('array')) return convert([value], schemas, root);
  if (types.has('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  const numeric = (types.has('integer') || types.has('number')) && /^-?\d{1,15}(\.\d{1,15})?$/.test(value);
  return numeric ? Number(value) : value;
}

/** The schemas and all that they are made of: whatever one of them says about a place counts. */
function expand(schemas: readonly (Json | undefined)[], root: Json): Schema[] {
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

function isSchema(node: Json | undefined): node is Schema {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}
