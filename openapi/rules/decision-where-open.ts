import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { parse } from 'yaml';
import { type Context, isNode, type Location, type Node } from './visit.ts';

/** Place -> why it is open. A place is an operationId, a file below the spec's folder, or `file#property`. */
export type OpenPlaces = Record<string, string>;

const listed = (api: 'gateway' | 'events'): OpenPlaces =>
  (parse(readFileSync(new URL('open-places.yaml', import.meta.url), 'utf8')) as Record<string, OpenPlaces>)[
    api
  ] ?? {};

/**
 * Every place that the interface leaves open says what we decided there, in `x-decision`; it is reported where it
 * stands. A place that the spec no longer has is reported as stale.
 */
export const decisionWhereOpen =
  (api: 'gateway' | 'events') =>
  ({ places = listed(api) }: { places?: OpenPlaces } = {}) => {
    const decisions: Location[] = [];
    const visited: Location[] = [];
    const operations = new Map<string, Location>();
    const note = (node: Node, { location }: Context) => {
      visited.push(location);
      const decision = node['x-decision'];
      if (typeof decision === 'string' && decision.trim()) decisions.push(location);
    };
    return {
      any: (node: unknown, ctx: Context) => isNode(node) && note(node, ctx),
      ref: (node: Node, ctx: Context) => note(node, ctx),
      Operation: (node: Node, { location }: Context) => operations.set(String(node.operationId), location),
      Root: {
        leave(_root: Node, ctx: Context) {
          const folder = dirname(ctx.location.source.absoluteRef);
          for (const [place, reason] of Object.entries(places)) {
            const isThere = isAt(place, operations.get(place), folder);
            // What is nearest to the root of its file is the place itself, and not something inside it.
            const [location] = visited.filter(isThere).sort((a, b) => a.pointer.length - b.pointer.length);
            if (location === undefined)
              ctx.report({ message: `Stale in open-places.yaml: ${place} is not in the spec.` });
            else if (!decisions.some(isThere))
              ctx.report({
                message: `${place} must carry x-decision: the interface leaves open ${reason}.`,
                location: location.key(),
              });
          }
        },
      },
    };
  };

function isAt(
  place: string,
  operation: Location | undefined,
  folder: string,
): (location: Location) => boolean {
  if (operation) {
    const inside = `${operation.pointer}/`;
    return ({ source, pointer }) =>
      source.absoluteRef === operation.source.absoluteRef && `${pointer}/`.startsWith(inside);
  }
  const [file, property] = place.split('#');
  return ({ source, pointer }) =>
    relative(folder, source.absoluteRef) === file &&
    (property === undefined || pointer.split('/').includes(property));
}
