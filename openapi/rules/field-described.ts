import { type Context, conditional, follow, isNode, type Node, text } from './visit.ts';

const branch = /\/(all|any|one)Of\/\d+$/;

/** Pointers of the schemas of which the schema at a pointer is a branch, innermost first. */
function* parentsOf(pointer: string): Generator<string> {
  for (let at = pointer; branch.test(at); ) {
    at = at.replace(branch, '');
    yield at === '#' ? '#/' : at;
  }
}

/**
 * Every property, array item and parameter has a description, directly or through its `$ref`. Conditionals, and branches
 * that restate a field of their parent, need none.
 */
export function fieldDescribed() {
  const properties = new Map<string, Node>();
  return {
    Schema(schema: Node, ctx: Context) {
      const { source, pointer } = ctx.location;
      const limitsOnly = conditional.test(`${pointer}/${ctx.key}`);
      if (schema.type === 'array' && isNode(schema.items) && !limitsOnly) {
        const location = ctx.location.child('items');
        const described = schema.items.description || follow(ctx, schema.items, location)?.node.description;
        if (!described) ctx.report({ message: 'The items of an array must have a description.', location });
      }
      if (!isNode(schema.properties)) return;
      properties.set(source.absoluteRef + pointer, schema.properties);
      if (limitsOnly) return;
      const parents = [...parentsOf(pointer)].map((at) => properties.get(source.absoluteRef + at) ?? {});
      for (const [name, property] of Object.entries(schema.properties)) {
        if (parents.some((parent) => Object.hasOwn(parent, name))) continue;
        const location = ctx.location.child(['properties', name]);
        if (isNode(property) && property.description) continue;
        if (follow(ctx, property, location)?.node.description) continue;
        ctx.report({ message: `Property ${name} must have a description.`, location: location.key() });
      }
    },
    Parameter(parameter: Node, ctx: Context) {
      if (parameter.description) return;
      ctx.report({ message: `Parameter ${text(parameter.name)} must have a description.` });
    },
  };
}
