import { type JsonObject, objects, operationsOf, refName, strings, text } from '../document.ts';
import type { Change } from './change.ts';

/** Area of a change that affects operations of several areas, or none. */
const shared = 'shared';

/** Returns a function that finds the area of a change: the tag of the affected operations. */
export function areaFinder(contracts: readonly { openapi: JsonObject; asyncapi: JsonObject }[]) {
  const areas = new Map<string, string>();
  for (const { openapi, asyncapi } of contracts) {
    for (const { id, node } of operationsOf(openapi)) areas.set(id, strings(node.tags)[0] ?? shared);
    const channels = new Map(objects(asyncapi.channels));
    for (const [name, operation] of objects(asyncapi.operations)) {
      const reference = text((operation.channel as JsonObject | undefined)?.$ref);
      const tags = channels.get(refName(reference))?.tags;
      areas.set(name, Array.isArray(tags) ? text((tags[0] as JsonObject | undefined)?.name) : shared);
    }
  }
  return ({ document, operations }: Change): string => {
    if (document === 'errors') return 'errors';
    const found = new Set(operations.map((id) => areas.get(id) ?? shared));
    // A callback has the area of the operation that it belongs to.
    if (found.size > 1) found.delete('callbacks');
    const [area = shared] = found;
    return found.size === 1 ? area : shared;
  };
}
