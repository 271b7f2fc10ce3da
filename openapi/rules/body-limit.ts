import { type Context, inCallback, type Node } from './visit.ts';

/**
 * An operation that takes a body says how large it may be: `x-body-limit-mb`, and where media stand in it,
 * `x-text-limit-mb`, how large all the rest may be.
 */
export function bodyLimit() {
  return {
    Operation(operation: Node, ctx: Context) {
      if (inCallback(ctx)) return;
      const { 'x-body-limit-mb': body, 'x-text-limit-mb': text } = operation;
      const report = (message: string) => ctx.report({ message, location: ctx.location.key() });
      if (operation.requestBody === undefined) {
        if (body !== undefined || text !== undefined)
          report('An operation without a body must have no limit for it.');
        return;
      }
      if (!isSize(body)) report('An operation with a body must have x-body-limit-mb, a number above 0.');
      else if (text !== undefined && !(isSize(text) && text < body))
        report('x-text-limit-mb must be a number above 0 and below x-body-limit-mb.');
    },
  };
}

const isSize = (value: unknown): value is number => typeof value === 'number' && value > 0;
