import { readFileSync } from 'node:fs';
import { type ErrorEntry, readErrors, statusesOf } from '../tools/errors.ts';
import { type Context, child, children, isNode, type Node, text } from './visit.ts';

/** Each example of a gateway error has a code of errors.yaml with the same status and family. */
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
            // A provider error is flat, and a management error has no code.
            const error = child(ctx, example, 'value')?.node.error;
            const code = isNode(error) ? text(error.code) : '';
            if (code === '' || isDeclared(entries, code, Number(status), family)) continue;
            ctx.report({
              message: `errors.yaml has no code ${code} with status ${status} in family ${family} for example ${name}.`,
              location: example.location,
            });
          }
        }
      }
    },
  };
}

const isDeclared = (entries: readonly ErrorEntry[], code: string, status: number, family: string): boolean =>
  entries.some(
    (one) => one.code === code && statusesOf(one).includes(status) && one.families.includes(family),
  );
