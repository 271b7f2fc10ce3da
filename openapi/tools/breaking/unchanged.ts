import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject, objects } from '../document.ts';

/**
 * Removes the paths and components that no difference affects from two OpenAPI documents, so that `redocly diff` takes a
 * fraction of the time. Paths that use a changed component stay, because they determine the direction of its data.
 */
export function withoutUnchanged(base: JsonObject, next: JsonObject): readonly [JsonObject, JsonObject] {
  if (!isObject(base.paths) || !isObject(next.paths)) return [base, next];
  // The security requirement and the servers of a document apply to all operations.
  if (!isDeepStrictEqual([base.security, base.servers], [next.security, next.servers])) return [base, next];
  const parts = [partsOf(base), partsOf(next)] as const;
  const [before, after] = parts;
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = new Set([...names].filter((name) => before.get(name) !== after.get(name)));
  const users = usersOf(parts);
  for (const name of changed) for (const user of users.get(name) ?? []) changed.add(user);
  const needed = new Set(changed);
  for (const name of needed)
    for (const part of parts) for (const used of referencesIn(part.get(name) ?? '')) needed.add(used);
  return [reduced(base, needed), reduced(next, needed)];
}

const pathName = (path: string) => `path ${path}`;
const componentName = (kind: string, name: string) => `#/components/${kind}/${name}`;

/** The paths and components of a document as text. */
function partsOf(document: JsonObject): Map<string, string> {
  return new Map([
    ...objects(document.paths).map(([path, item]) => [pathName(path), JSON.stringify(item)] as const),
    ...objects(document.components).flatMap(([kind, components]) =>
      objects(components).map(
        ([name, component]) => [componentName(kind, name), JSON.stringify(component)] as const,
      ),
    ),
  ]);
}

const referencesIn = (part: string): string[] =>
  [...part.matchAll(/"\$ref":"(#\/components\/[^/"]+\/[^/"]+)/g)].map(([, name = '']) => name);

/** The parts that refer to each component. */
function usersOf(documents: readonly Map<string, string>[]): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>();
  for (const parts of documents)
    for (const [user, part] of parts)
      for (const used of referencesIn(part)) users.getOrInsertComputed(used, () => new Set()).add(user);
  return users;
}

function reduced(document: JsonObject, needed: ReadonlySet<string>): JsonObject {
  const paths = objects(document.paths).filter(([path]) => needed.has(pathName(path)));
  const components = objects(document.components).map(([kind, all]): [string, JsonObject] => [
    kind,
    // Security schemes are referred to by name.
    kind === 'securitySchemes'
      ? all
      : Object.fromEntries(objects(all).filter(([name]) => needed.has(componentName(kind, name)))),
  ]);
  return { ...document, paths: Object.fromEntries(paths), components: Object.fromEntries(components) };
}
