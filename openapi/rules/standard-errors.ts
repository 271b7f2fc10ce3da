import { type Context, gatewayOperations, isNode, type Node, text } from './visit.ts';

/** Standard statuses of all operations, and of those with an API key, with input and with a body. */
const always = [500];
const withKey = [401, 429, 503];
const withInput = [400];
const withBody = [413, 415];

/** Every operation documents the errors that are common to all operations of its kind. */
export function standardErrors() {
  let security: unknown;
  return {
    Root: (root: Node) => {
      security = root.security;
    },
    ...gatewayOperations((operation: Node, ctx: Context) => {
      const needsKey = [operation.security ?? security ?? []].flat().length > 0;
      const hasBody = operation.requestBody !== undefined;
      const expected = [
        ...always,
        ...(needsKey ? withKey : []),
        ...(needsKey && (hasBody || operation.parameters !== undefined) ? withInput : []),
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
