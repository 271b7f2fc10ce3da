import { deref, isObject, type Json, type JsonObject, objects, operationsOf, text } from '../document.ts';

const prefix = '/callbacks/';

/** A callback of an operation that is not a copy under another prefix. */
interface Callback {
  operation: string;
  name: string;
  /** Runtime expression of the address. */
  expression: string;
  item: JsonObject;
}

function callbacksOf(openapi: JsonObject): Callback[] {
  return operationsOf(openapi).flatMap(({ id, node, aliasOf }) =>
    aliasOf !== undefined
      ? []
      : objects(node.callbacks).flatMap(([name, callback]) =>
          objects(deref(openapi, callback)).map(([expression, item]) => ({
            operation: id,
            name,
            expression,
            item: deref(openapi, item),
          })),
        ),
  );
}

/**
 * Moves the callbacks of an OpenAPI document into paths, because `redocly diff` ignores callbacks. The gateway sends the
 * request of a callback, so it becomes a response with headers for its parameters. The response becomes a request body.
 */
export function callbacksAsPaths(openapi: JsonObject): JsonObject {
  const paths = Object.fromEntries(
    callbacksOf(openapi).map(({ operation, name, expression, item }) => [
      `${prefix}${operation}/${name}`,
      Object.fromEntries(
        objects(item).map(([method, node]) => [
          method,
          asOperation(openapi, { ...node, 'x-callback-address': expression }, item),
        ]),
      ),
    ]),
  );
  const document = { ...openapi, paths: { ...withoutCallbacks(openapi.paths), ...paths } };
  const { parameters, ...components } = deref(openapi, openapi.components);
  if (parameters === undefined) return document;
  // A parameter of callbacks only would be compared as part of a request.
  const used = JSON.stringify(document.paths);
  const ofRequests = objects(parameters).filter(([name]) =>
    used.includes(`"#/components/parameters/${name}"`),
  );
  return { ...document, components: { ...components, parameters: Object.fromEntries(ofRequests) } };
}

function asOperation(openapi: JsonObject, node: JsonObject, item: JsonObject): JsonObject {
  const { operationId, summary, description, security, deprecated } = node;
  const parameters = [item.parameters, node.parameters]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((one): [string, JsonObject] => {
      const { name, in: _, $at: _at, ...header } = deref(openapi, one);
      return [text(name), header];
    });
  const body = deref(openapi, node.requestBody);
  const responses = objects(node.responses).map(([status, one]) => [status, deref(openapi, one)] as const);
  // The gateway reads the body of a successful response only.
  const answers = Object.fromEntries(
    responses.flatMap(([status, { content }]) => (status.startsWith('2') ? objects(content) : [])),
  );
  return Object.fromEntries(
    Object.entries({
      operationId,
      summary,
      description,
      security,
      deprecated,
      'x-sunset': node['x-sunset'],
      'x-callback-address': node['x-callback-address'],
      'x-callback-body': body.required === true,
      'x-callback-statuses': responses.map(([status]) => status),
      requestBody: Object.keys(answers).length > 0 ? { content: answers } : undefined,
      responses: {
        200: {
          description: text(body.description),
          headers: Object.fromEntries(parameters),
          content: body.content ?? {},
        },
      },
    }).filter((entry): entry is [string, JsonObject] => entry[1] !== undefined),
  );
}

const withoutCallbacks = (paths: Json | undefined): JsonObject =>
  Object.fromEntries(
    objects(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([key, node]): [string, Json] => {
          if (!isObject(node)) return [key, node];
          const { callbacks: _, ...rest } = node;
          return [key, rest];
        }),
      ),
    ]),
  );

/** The callback and the place in it, if a pointer into the converted document is in a callback. */
export function callbackAt(at: string): { operation: string; name: string; place: string } | undefined {
  const [, operation = '', name = '', place = ''] =
    /^#\/paths\/~1callbacks~1([^/]+?)~1([^/~]+)(\/.*)?$/.exec(at) ?? [];
  if (operation === '') return undefined;
  return {
    operation,
    name,
    place: bundlePlace(place.replace(/^\/[a-z]+(?=\/|$)/, '')),
  };
}

/** Converts a place in a converted callback to the one in the bundle. */
const bundlePlace = (place: string) =>
  place.startsWith('/requestBody/content')
    ? place.replace('/requestBody', '/responses')
    : place.replace(/^\/responses\/200(\/headers)?/, (_, headers) =>
        headers === undefined ? '/requestBody' : '/parameters',
      );

/** Maps each callback to the first one with the same content, so that a shared callback has one name. */
export function callbackNames(documents: readonly JsonObject[]): (operation: string, name: string) => string {
  const contents = new Map<string, string>();
  for (const document of documents)
    for (const { operation, name, item } of callbacksOf(document)) {
      const key = `${operation} ${name}`;
      contents.set(key, `${contents.get(key) ?? ''}${JSON.stringify(item)}`);
    }
  const first = new Map<string, string>();
  for (const [key, content] of contents) first.getOrInsert(content, key.split(' ')[1] ?? '');
  return (operation, name) => first.get(contents.get(`${operation} ${name}`) ?? '') ?? name;
}
