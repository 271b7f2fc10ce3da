import { type Context, isNode, type Location, type Node } from './visit.ts';

const single = ['items', 'not', 'schema', 'payload', 'contains', 'propertyNames', 'if', 'then', 'else'];
const many = ['properties', 'patternProperties', '$defs', 'allOf', 'anyOf', 'oneOf', 'prefixItems'];

/** Forbids boolean schemas and status ranges, because client generators support neither. */
export function noBooleanSchema() {
  const check = (node: Node, ctx: Context) => {
    const report = (location: Location) =>
      ctx.report({ message: 'A schema must be an object, not true or false.', location });
    for (const key of single) {
      if (typeof node[key] === 'boolean') report(ctx.location.child([key]));
    }
    for (const key of many) {
      for (const [name, schema] of Object.entries(node[key] ?? {})) {
        if (typeof schema === 'boolean') report(ctx.location.child([key, name]));
      }
    }
  };
  return {
    Schema: check,
    MediaType: check,
    Parameter: check,
    Header: check,
    Message: check,
    Responses(responses: Node, ctx: Context) {
      if (!isNode(responses)) return;
      for (const status of Object.keys(responses).filter((key) => /x$/i.test(key))) {
        ctx.report({
          message: `${status} is a range of statuses. List each status instead.`,
          location: ctx.location.child([status]).key(),
        });
      }
    },
  };
}
