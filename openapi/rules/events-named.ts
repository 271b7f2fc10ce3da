import type { Context, Node } from './visit.ts';

const form = /^asyncapi\.json#\/channels\/\w+$/;

/** An event stream names the AsyncAPI channel that defines its messages. */
export function eventsNamed() {
  return {
    MediaType(media: Node, ctx: Context) {
      if (ctx.key !== 'text/event-stream') return;
      if (typeof media['x-events'] === 'string' && form.test(media['x-events'])) return;
      ctx.report({
        message: 'An event stream must name its channel in x-events: asyncapi.json#/channels/<channel>.',
      });
    },
  };
}
