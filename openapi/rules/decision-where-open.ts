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

/** Every place that the interface leaves open says what we decided there, in `x-decision`. */
export const decisionWhereOpen =
  (api: 'gateway' | 'events') =>
  ({ places = listed(api) }: { places?: OpenPlaces } = {}) => {
    const decisions: Location[] = [];
    const operations = new Map<string, Location>();
    const note = (node: Node, { location }: Context) => {
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
            if (decisions.some((decision) => isAt(place, decision, operations.get(place), folder))) continue;
            ctx.report({ message: `${place} must carry x-decision: the interface leaves open ${reason}.` });
          }
        },
      },
    };
  };

function isAt(place: string, decision: Location, operation: Location | undefined, folder: string): boolean {
  const { source, pointer } = decision;
  if (operation) {
    return (
      source.absoluteRef === operation.source.absoluteRef && `${pointer}/`.startsWith(`${operation.pointer}/`)
    );
  }
  const [file, property] = place.split('#');
  if (relative(folder, source.absoluteRef) !== file) return false;
  return property === undefined || pointer.split('/').includes(property);
}
