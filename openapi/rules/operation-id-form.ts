import { type Context, inCallback, type Node } from './visit.ts';

/** Allowed first verbs of an operationId. */
export const verbs = [
  'audit',
  'cancel',
  'count',
  'create',
  'customize',
  'delete',
  'disable',
  'download',
  'enable',
  'explain',
  'export',
  'fetch',
  'generate',
  'get',
  'grant',
  'list',
  'open',
  'read',
  'refund',
  'release',
  'reload',
  'resend',
  'revoke',
  'rotate',
  'search',
  'settle',
  'show',
  'submit',
  'synthesize',
  'test',
  'update',
  'upload',
];

/** Pattern of an operationId. */
export const form = new RegExp(`^(${verbs.join('|')})([A-Z0-9][a-z0-9]*)+$`);

/** An operationId consists of a listed verb and a noun, in lowerCamelCase. */
export function operationIdForm() {
  return {
    Operation(operation: Node, ctx: Context) {
      if (inCallback(ctx)) return;
      const id = operation.operationId;
      if (typeof id === 'string' && form.test(id)) return;
      ctx.report({
        message: `operationId ${JSON.stringify(id)} must be verbNoun in lowerCamelCase, with one of these verbs: ${verbs.join(', ')}.`,
        location: ctx.location.child(['operationId']),
      });
    },
  };
}
