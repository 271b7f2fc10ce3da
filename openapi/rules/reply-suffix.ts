import { basename } from 'node:path';
import { type Context, children, isNode, type Node, text } from './visit.ts';

/** Bodies that are a thing itself, which other schemas hold too, and not a reply made for one operation. */
export const things = [
  'ContractDocument',
  'ImageJob',
  'Message',
  'Model',
  'NativeTask',
  'OfficialTask',
  'VideoTask',
];

/** A schema that is the JSON of a success ends in Reply, unless it is a thing itself; no other name for it is used. */
export function replySuffix() {
  return {
    Operation(node: Node, ctx: Context) {
      const operation = { node, location: ctx.location };
      for (const [status, response] of children(ctx, operation, 'responses')) {
        if (!status.startsWith('2')) continue;
        for (const [type, { node: media }] of children(ctx, response, 'content')) {
          if (type !== 'application/json' || !isNode(media.schema)) continue;
          const name = basename(text(media.schema.$ref)).replace(/\.\w+$/, '');
          if (name === '' || name.endsWith('Reply') || things.includes(name)) continue;
          ctx.report({
            message: `${name} answers ${text(node.operationId)}, so its name must end in Reply.`,
            location: ctx.location.child(['responses', status]),
          });
        }
      }
    },
  };
}
