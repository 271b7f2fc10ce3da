import type { Context, Node } from './visit.ts';

const form = /^asyncapi\.json#\/channels\/\w+$/;

/** An event stream names the channel of the AsyncAPI document whose messages it carries, as a client finds it. */
export function eventsNamed() {
  return {
    MediaType(media: Node, ctx: Context) {
      if (ctx.key !== 'text/event-stream') return;
      if (typeof media['x-events'] === 'string' && form.test(media['x-events'])) return;
      ctx.report({
        message: 'An event stream must say in x-events what it carries: asyncapi.json#/channels/<channel>.',
      });
    },
  };
}
