import plugin from '@scalar/fastify-api-reference';

/** A route that the plugin registers. */
interface Route {
  url: string;
  handler(request: unknown, reply: object): unknown;
}

/** Returns the script of the API reference, which is part of a Fastify plugin. */
export async function referenceScript(): Promise<string> {
  const routes: Route[] = [];
  const host = {
    route: (one: Route) => routes.push(one),
    hasPlugin: () => false,
    initialConfig: {},
    log: console,
  };
  await (plugin as unknown as (host: object, options: object, done: () => void) => unknown)(
    host,
    { routePrefix: '/docs', configuration: { url: 'openapi.json' } },
    () => undefined,
  );
  let script = '';
  const reply = {
    header: () => reply,
    send: (body: string) => {
      script = body;
      return reply;
    },
  };
  routes.find(({ url }) => url.endsWith('.js'))?.handler({}, reply);
  if (script === '') throw new Error('the package serves no script of the API reference');
  return script;
}
