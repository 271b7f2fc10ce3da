/** The part of Redocly's visitor API that the rules use: the bundled CLI publishes no types. */

export type Node = Record<string, unknown>;

export interface Location {
  source: { absoluteRef: string };
  /** JSON pointer inside the file, beginning with `#/`. */
  pointer: string;
  child(path: string | (string | number)[]): Location;
  key(): Location;
}

export interface Context {
  location: Location;
  key: string | number;
  report(problem: { message: string; location?: Location | undefined }): void;
  /** Follows a `$ref`; a node without one comes back as it is. */
  resolve(node: unknown, from?: string): { node: unknown; location: Location | undefined };
}

/** A node and the place it was written in, after its `$ref` was followed. */
export interface Resolved {
  node: Node;
  location: Location;
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Matches the pointer of a schema inside a conditional, which limits only what is described elsewhere. */
export const conditional = /\/(if|then|else|not|contains)(\/|$)/;

/** What the gateway calls: no operation of its own, with other rules. */
export const inCallback = ({ location }: Context) => location.source.absoluteRef.includes('/callbacks/');

/** A string as it is; anything else is no text. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Follows `$ref`s from a known place to an object; undefined when there is none. */
export function follow(ctx: Context, node: unknown, at: Location): Resolved | undefined {
  if (!isNode(node)) return undefined;
  if (typeof node.$ref !== 'string') return { node, location: at };
  const found = ctx.resolve(node, at.source.absoluteRef);
  return found.location && follow(ctx, found.node, found.location);
}

/** The object below `key`, its `$ref` followed. */
export const child = (ctx: Context, { node, location }: Resolved, key: string): Resolved | undefined =>
  follow(ctx, node[key], location.child([key]));

/** The objects of the map below `key`, each with its name, `$ref`s followed. */
export function children(ctx: Context, parent: Resolved, key: string): [string, Resolved][] {
  const map = child(ctx, parent, key);
  if (!map) return [];
  return Object.keys(map.node).flatMap((name) => {
    const item = child(ctx, map, name);
    return item ? [[name, item] as [string, Resolved]] : [];
  });
}

/** Visits the operations that the gateway answers, and not those that a caller's own server does: its callbacks. */
export function ofTheGateway(visit: (operation: Node, ctx: Context) => void) {
  let callbacks = 0;
  return {
    Callback: { enter: () => void callbacks++, leave: () => void callbacks-- },
    Operation: (operation: Node, ctx: Context) => {
      if (callbacks === 0) visit(operation, ctx);
    },
  };
}
