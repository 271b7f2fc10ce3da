import { type Context, follow, isNode, type Node, text } from './visit.ts';

const conditional = /\/(if|then|else|not|contains)(\/|$)/;

const branch = /\/(all|any|one)Of\/\d+$/;

/** Pointers of the schemas that the schema at a pointer is a branch of, from the inside out. */
function* parentsOf(pointer: string): Generator<string> {
  for (let at = pointer; branch.test(at); ) {
    at = at.replace(branch, '');
    yield at === '#' ? '#/' : at;
  }
}

/**
 * Every schema property and every parameter says what it is, itself or through its `$ref`. Schemas that only limit
 * fields described elsewhere need not repeat it: conditionals, and branches that restate a field of their parent.
 */
export function fieldDescribed() {
  const properties = new Map<string, Node>();
  return {
    Schema(schema: Node, ctx: Context) {
      if (!isNode(schema.properties)) return;
      const { source, pointer } = ctx.location;
      properties.set(source.absoluteRef + pointer, schema.properties);
      if (conditional.test(`${pointer}/${ctx.key}`)) return;
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
