import { type Context, children, type Node, ofTheGateway, text } from './visit.ts';

/** Every answer of the gateway carries `x-request-id`; the switch of protocols of a handshake cannot. */
export function requestIdHeader() {
  return ofTheGateway((node: Node, ctx: Context) => {
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
