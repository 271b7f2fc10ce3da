/** The part of Redocly's visitor API that the rules use. The bundled CLI publishes no types. */

export type Node = Record<string, unknown>;

export interface Location {
  source: { absoluteRef: string };
  /** JSON pointer in the file, starting with `#/`. */
  pointer: string;
  child(path: string | (string | number)[]): Location;
  key(): Location;
}

export interface Context {
  location: Location;
  key: string | number;
  report(problem: { message: string; location?: Location | undefined }): void;
  /** Resolves a `$ref`. Returns a node without one unchanged. */
  resolve(node: unknown, from?: string): { node: unknown; location: Location | undefined };
}

/** A node and its location after its `$ref` is resolved. */
export interface Resolved {
  node: Node;
  location: Location;
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Matches the pointer of a schema in a conditional, which only limits fields described elsewhere. */
export const conditional = /\/(if|then|else|not|contains)(\/|$)/;

/** True in a callback, which is an operation of the client's server. */
export const inCallback = ({ location }: Context) => location.source.absoluteRef.includes('/callbacks/');

/** Returns a string unchanged, and an empty string for any other value. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Resolves `$ref`s from a known location to an object. Undefined without an object. */
export function follow(ctx: Context, node: unknown, at: Location): Resolved | undefined {
  if (!isNode(node)) return undefined;
  if (typeof node.$ref !== 'string') return { node, location: at };
  const found = ctx.resolve(node, at.source.absoluteRef);
  return found.location && follow(ctx, found.node, found.location);
}

/** The object at `key`, with its `$ref` resolved. */
export const child = (ctx: Context, { node, location }: Resolved, key: string): Resolved | undefined =>
  follow(ctx, node[key], location.child([key]));

/** The named objects of the map at `key`, with their `$ref`s resolved. */
export function children(ctx: Context, parent: Resolved, key: string): [string, Resolved][] {
  const map = child(ctx, parent, key);
  if (!map) return [];
  return Object.keys(map.node).flatMap((name) => {
    const item = child(ctx, map, name);
    return item ? [[name, item] as [string, Resolved]] : [];
  });
}

/** Visits the operations of the gateway, without callbacks, which are operations of the client's server. */
export function gatewayOperations(visit: (operation: Node, ctx: Context) => void) {
  let callbacks = 0;
  return {
    Callback: { enter: () => void callbacks++, leave: () => void callbacks-- },
    Operation: (operation: Node, ctx: Context) => {
      if (callbacks === 0) visit(operation, ctx);
    },
  };
}
