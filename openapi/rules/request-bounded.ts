import { type Context, child, children, follow, inCallback, type Node, type Resolved } from './visit.ts';

/** Keywords with one subschema, a map of subschemas, and a list of subschemas. `allOf` is handled separately. */
const single = ['items', 'additionalProperties'];
const maps = ['properties', 'patternProperties'];
const lists = ['prefixItems', 'anyOf', 'oneOf'];

/**
 * Arrays and integers in requests have limits: each array has `maxItems`, each integer a minimum and a maximum or an
 * `enum`. Conditionals, branches that restate a field, and `allOf` in a limited array need not repeat them.
 */
export function requestBounded() {
  const seen = new Set<string>();
  const check = (ctx: Context, schema: Resolved, bounded = false) => {
    const { node, location } = schema;
    const place = location.source.absoluteRef + location.pointer;
    if (seen.has(place)) return;
    seen.add(place);
    const inBounds = bounded || node.maxItems !== undefined;
    for (const problem of problems(node, inBounds)) ctx.report({ message: problem, location });
    const listed = (key: string) =>
      [node[key] ?? []].flat().map((one, index) => follow(ctx, one, location.child([key, index])));
    const inner = [
      ...single.map((key) => child(ctx, schema, key)),
      ...maps.flatMap((key) => children(ctx, schema, key).map(([, one]) => one)),
      ...lists.flatMap(listed),
    ];
    for (const one of inner) if (one !== undefined) check(ctx, one);
    for (const one of listed('allOf')) if (one !== undefined) check(ctx, one, inBounds);
  };
  return {
    RequestBody(node: Node, ctx: Context) {
      if (inCallback(ctx)) return;
      const body = follow(ctx, node, ctx.location);
      const media = body === undefined ? [] : children(ctx, body, 'content');
      for (const [, type] of media) {
        const schema = child(ctx, type, 'schema');
        if (schema !== undefined) check(ctx, schema);
      }
    },
    Parameter(node: Node, ctx: Context) {
      if (inCallback(ctx)) return;
      const schema = child(ctx, { node, location: ctx.location }, 'schema');
      if (schema !== undefined) check(ctx, schema);
    },
  };
}

function* problems(schema: Node, bounded: boolean): Generator<string> {
  const types = [schema.type].flat();
  const isArray = types.includes('array') && (schema.items ?? schema.prefixItems ?? schema.description);
  if (isArray && !bounded) yield 'An array in a request must have maxItems.';
  const isInteger = types.includes('integer') && schema.description;
  if (!isInteger || schema.enum !== undefined || schema.const !== undefined) return;
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (schema[bound] === undefined && schema[exclusive] === undefined)
      yield `An integer in a request must have a ${bound}.`;
  }
}
