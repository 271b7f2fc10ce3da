import { readFileSync } from 'node:fs';
import { type ErrorEntry, readErrors, statusesOf } from '../tools/errors.ts';
import { type Context, child, children, isNode, type Node, text } from './visit.ts';

/** Each example of an error that the gateway raises has a code of errors.yaml, at its status and in its family. */
export function errorCode() {
  const entries = readErrors(readFileSync(new URL('../errors.yaml', import.meta.url), 'utf8'));
  return {
    Operation(node: Node, ctx: Context) {
      const operation = { node, location: ctx.location };
      const family = String(node['x-error-family']);
      for (const [status, response] of children(ctx, operation, 'responses')) {
        if (!/^[45]/.test(status)) continue;
        for (const [, media] of children(ctx, response, 'content')) {
          for (const [name, example] of children(ctx, media, 'examples')) {
            // A provider's refusal is flat, and a management error names no code.
            const error = child(ctx, example, 'value')?.node.error;
            const code = isNode(error) ? text(error.code) : '';
            if (code === '' || isRaised(entries, code, Number(status), family)) continue;
            ctx.report({
              message: `errors.yaml has no ${code} of ${status} in family ${family}, as example ${name} says.`,
              location: example.location,
            });
          }
        }
      }
    },
  };
}

const isRaised = (entries: readonly ErrorEntry[], code: string, status: number, family: string): boolean =>
  entries.some(
    (one) => one.code === code && statusesOf(one).includes(status) && one.families.includes(family),
  );
