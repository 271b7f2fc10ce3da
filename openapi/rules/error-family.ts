import { basename } from 'node:path';
import { type Context, child, children, inCallback, type Node, text } from './visit.ts';

/** Schema file of the 4xx and 5xx bodies by `x-error-family`. */
const errorFamilies: Record<string, string> = {
  generic: 'GenericError',
  native: 'NativeRouteError',
  management: 'ManagementError',
  messages: 'MessagesError',
};

/** Each 4xx and 5xx response has the error body of the operation's family. */
export function errorFamily() {
  return {
    Operation(node: Node, ctx: Context) {
      if (inCallback(ctx)) return;
      const operation = { node, location: ctx.location };
      const expected = errorFamilies[String(node['x-error-family'])];
      if (!expected) {
        const names = Object.keys(errorFamilies).join(', ');
        ctx.report({ message: `x-error-family must be one of: ${names}.`, location: ctx.location.key() });
        return;
      }
      for (const [status, response] of children(ctx, operation, 'responses')) {
        if (!/^[45]/.test(status)) continue;
        const json = children(ctx, response, 'content').find(([type]) => type === 'application/json');
        const schema = json && child(ctx, json[1], 'schema');
        const found = schema && basename(schema.location.source.absoluteRef).replace(/\.\w+$/, '');
        if (found === expected) continue;
        ctx.report({
          message: `The ${status} body of ${text(node.operationId)} must be ${expected}, not ${found ?? 'empty'}.`,
          location: ctx.location.child(['responses', status]),
        });
      }
    },
  };
}
