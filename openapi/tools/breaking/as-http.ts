import { deref, type JsonObject, objects, refName, text } from '../document.ts';

/** The rules about schemas, which determine the direction of data for HTTP only. */
export const schemaRules: ReadonlySet<string> = new Set([
  'enum-values-added',
  'enum-values-removed',
  'property-removed',
  'required-properties-added',
  'required-properties-removed',
  'schema-combinator-changed',
  'schema-constraint-changed',
  'schema-type-changed',
]);

/**
 * Converts an AsyncAPI document to an OpenAPI document with the same schema locations. Received messages become request
 * bodies, sent messages become response bodies.
 */
export function asHttp(asyncapi: JsonObject): JsonObject {
  const paths = objects(asyncapi.operations).flatMap(([name, operation]) => {
    const messages = Array.isArray(operation.messages) ? operation.messages : [];
    return messages.map((reference) => {
      const { payload = {} } = deref(asyncapi, reference);
      const content = { 'application/json': { schema: payload } };
      const message = refName(text((reference as JsonObject).$ref));
      const response = { description: 'Sent.', ...(operation.action === 'send' && { content }) };
      const body = operation.action === 'receive' && { requestBody: { content } };
      return [`/${name}/${message}`, { post: { ...body, responses: { 200: response } } }] as const;
    });
  });
  const { schemas = {} } = deref(asyncapi, asyncapi.components);
  return {
    openapi: '3.1.0',
    info: { title: 'Events', version: '1.0.0' },
    paths: Object.fromEntries(paths),
    components: { schemas },
  };
}
