import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { type Context, isNode, type Location, type Node } from './visit.ts';

/** Place -> unspecified point. A place is an operationId, a file below the spec's folder, or `file#property`. */
export type OpenPlaces = Record<string, string>;

const listed = (api: 'gateway' | 'events'): OpenPlaces =>
  (parse(readFileSync(new URL('open-places.yaml', import.meta.url), 'utf8')) as Record<string, OpenPlaces>)[
    api
  ] ?? {};

/**
 * Every place that the interface leaves open has an `x-decision`. A missing decision is reported at its place, and a
 * place that is no longer in the spec is reported as stale.
 */
export const decisionWhereOpen =
  (api: 'gateway' | 'events') =>
  ({ places = listed(api) }: { places?: OpenPlaces } = {}) => {
    const decisions: Location[] = [];
    /** Locations by file, because there are many more locations than files. */
    const visited = new Map<string, Location[]>();
    const operations = new Map<string, Location>();
    const note = (node: Node, { location }: Context) => {
      const file = location.source.absoluteRef;
      visited.set(file, visited.get(file) ?? []);
      visited.get(file)?.push(location);
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
            const { file, isThere } = placeAt(place, operations.get(place), folder);
            // The location nearest to the root of the file is the place itself.
            const [location] = (visited.get(file) ?? [])
              .filter(isThere)
              .sort((a, b) => a.pointer.length - b.pointer.length);
            if (location === undefined)
              ctx.report({ message: `Remove ${place} from open-places.yaml: it is not in the spec.` });
            else if (!decisions.some((one) => one.source.absoluteRef === file && isThere(one)))
              ctx.report({
                message: `${place} must have x-decision, because the interface leaves open ${reason}.`,
                location: location.key(),
              });
          }
        },
      },
    };
  };

/** The file of a place, and a test for locations at or inside the place. */
function placeAt(place: string, operation: Location | undefined, folder: string) {
  if (operation) {
    const inside = `${operation.pointer}/`;
    const isThere = ({ pointer }: Location) => `${pointer}/`.startsWith(inside);
    return { file: operation.source.absoluteRef, isThere };
  }
  const [file = '', property] = place.split('#');
  const isThere = ({ pointer }: Location) => property === undefined || pointer.split('/').includes(property);
  return { file: join(folder, file), isThere };
}
