import { basename } from 'node:path';
import { type Context, children, isNode, type Node, text } from './visit.ts';

/** Response bodies that are resources, which other schemas also contain. */
const resourceSchemas = [
  'ContractDocument',
  'ImageJob',
  'Message',
  'Model',
  'NativeTask',
  'OfficialTask',
  'VideoTask',
];

/** The schema of a successful JSON response has a name that ends in Reply, unless it is a resource. */
export function replySuffix() {
  return {
    Operation(node: Node, ctx: Context) {
      const operation = { node, location: ctx.location };
      for (const [status, response] of children(ctx, operation, 'responses')) {
        if (!status.startsWith('2')) continue;
        for (const [type, { node: media }] of children(ctx, response, 'content')) {
          if (type !== 'application/json' || !isNode(media.schema)) continue;
          const name = basename(text(media.schema.$ref)).replace(/\.\w+$/, '');
          if (name === '' || name.endsWith('Reply') || resourceSchemas.includes(name)) continue;
          ctx.report({
            message: `${name} is the response of ${text(node.operationId)}, so its name must end in Reply.`,
            location: ctx.location.child(['responses', status]),
          });
        }
      }
    },
  };
}
