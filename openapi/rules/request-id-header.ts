import { type Context, children, gatewayOperations, type Node, text } from './visit.ts';

/** Every response has the header `x-request-id`, except the 101 of a WebSocket handshake. */
export function requestIdHeader() {
  return gatewayOperations((node: Node, ctx: Context) => {
    for (const [status, response] of children(ctx, { node, location: ctx.location }, 'responses')) {
      if (status === '101') continue;
      const names = children(ctx, response, 'headers').map(([name]) => name.toLowerCase());
      if (names.includes('x-request-id')) continue;
      ctx.report({
        message: `${status} of ${text(node.operationId)} must have the header x-request-id.`,
        location: ctx.location.child(['responses', status]),
      });
    }
  });
}
