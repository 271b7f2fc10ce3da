import type { Context, Node } from './visit.ts';

/** Every message and every operation of the AsyncAPI document has a description. */
export function messageDescribed() {
  return {
    Message(message: Node, ctx: Context) {
      if (!message.description) ctx.report({ message: 'A message must have a description.' });
    },
    Operation(operation: Node, ctx: Context) {
      if (!operation.description) ctx.report({ message: 'An operation must have a description.' });
    },
  };
}
