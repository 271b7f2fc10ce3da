import { type Context, child, children, type Node, type Resolved } from './visit.ts';

const bodiless = new Set(['101', '204', '302', '304']);
const isJson = (mediaType: string) => /^application\/([\w.-]+\+)?json\b/.test(mediaType);
const isBinary = (mediaType: string) => /^(audio|image|model|video)\/|octet-stream/.test(mediaType);

/** JSON requests and all text responses have at least one named example. */
export function operationHasExamples() {
  return {
    Operation(node: Node, ctx: Context) {
      const operation = { node, location: ctx.location };
      const request = child(ctx, operation, 'requestBody');
      const bodies = request ? children(ctx, request, 'content').filter(([type]) => isJson(type)) : [];
      for (const [status, response] of children(ctx, operation, 'responses')) {
        if (bodiless.has(status)) continue;
        bodies.push(...children(ctx, response, 'content').filter(([type]) => !isBinary(type)));
      }
      for (const [mediaType, body] of bodies) {
        if (hasExamples(body)) continue;
        ctx.report({
          message: `${mediaType} must have at least one named example.`,
          location: body.location,
        });
      }
    },
  };
}

const hasExamples = ({ node }: Resolved) => Object.keys(node.examples ?? {}).length > 0;
