export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Schema = { [key: string]: Json };

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

/** The object itself, or the one that it refers to. An empty object if there is none. */
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
