import { isObject, type JsonObject, objects, operationsOf } from './document.ts';

/** Copies a bundled document without the alias operations. */
export function withoutAliases(openapi: JsonObject): JsonObject {
  const aliases = new Set(
    operationsOf(openapi)
      .filter(({ aliasOf }) => aliasOf)
      .map(({ node }) => node),
  );
  const paths = objects(openapi.paths)
    .map(([path, item]): [string, JsonObject] => [
      path,
      Object.fromEntries(Object.entries(item).filter(([, node]) => !(isObject(node) && aliases.has(node)))),
    ])
    .filter(([, item]) => operationsOf({ paths: { '/': item } }).length > 0);
  return { ...openapi, paths: Object.fromEntries(paths) };
}
