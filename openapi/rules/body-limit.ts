import { type Context, inCallback, type Node } from './visit.ts';

/**
 * An operation with a body has `x-body-limit-mb`, the maximum size of the body. If the body can contain media,
 * `x-text-limit-mb` limits the rest of it.
 */
export function bodyLimit() {
  return {
    Operation(operation: Node, ctx: Context) {
      if (inCallback(ctx)) return;
      const { 'x-body-limit-mb': body, 'x-text-limit-mb': text } = operation;
      const report = (message: string) => ctx.report({ message, location: ctx.location.key() });
      if (operation.requestBody === undefined) {
        if (body !== undefined || text !== undefined)
          report('An operation without a body must not have a body limit.');
        return;
      }
      if (!isSize(body))
        report('An operation with a body must have x-body-limit-mb, a number greater than 0.');
      else if (text !== undefined && !(isSize(text) && text < body))
        report('x-text-limit-mb must be greater than 0 and less than x-body-limit-mb.');
    },
  };
}

const isSize = (value: unknown): value is number => typeof value === 'number' && value > 0;
