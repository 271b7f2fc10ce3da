import { type Context, isNode, type Node, ofTheGateway, text } from './visit.ts';

/** What any call can end with, what one with a key can, one that says something, and one with a body. */
const always = [500];
const keyed = [401, 429, 503];
const saying = [400];
const withBody = [413, 415];

/** Every operation documents the errors that do not depend on what it does. */
export function standardErrors() {
  let security: unknown;
  return {
    Root: (root: Node) => {
      security = root.security;
    },
    ...ofTheGateway((operation: Node, ctx: Context) => {
      const needsKey = [operation.security ?? security ?? []].flat().length > 0;
      const hasBody = operation.requestBody !== undefined;
      const expected = [
        ...always,
        ...(needsKey ? keyed : []),
        ...(needsKey && (hasBody || operation.parameters !== undefined) ? saying : []),
        ...(hasBody ? withBody : []),
      ];
      const documented = isNode(operation.responses) ? operation.responses : {};
      const missing = expected.filter((status) => documented[status] === undefined).sort((a, b) => a - b);
      if (missing.length === 0) return;
      ctx.report({
        message: `${text(operation.operationId)} must document ${missing.join(', ')}.`,
        location: ctx.location.child('responses').key(),
      });
    }),
  };
}
