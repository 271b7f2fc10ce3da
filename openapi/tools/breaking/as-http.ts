import { deref, type JsonObject, objects, refName, text } from '../document.ts';

/** Media type of the headers of an event in the converted document. */
const headersType = 'x-headers';

/** References to the messages of an operation. Without a list, the operation has all messages of its channel. */
export function messagesOf(asyncapi: JsonObject, operation: JsonObject): JsonObject[] {
  if (Array.isArray(operation.messages)) return operation.messages as JsonObject[];
  const { messages } = deref(asyncapi, operation.channel);
  const channel = text((operation.channel as JsonObject | undefined)?.$ref);
  return objects(messages).map(([name]) => ({ $ref: `${channel}/messages/${name}` }));
}

/**
 * Converts an AsyncAPI document to an OpenAPI document with the same schema locations. Received messages become request
 * bodies, sent messages become response bodies. The headers of a message become a further media type.
 */
export function asHttp(asyncapi: JsonObject): JsonObject {
  const paths = objects(asyncapi.operations).flatMap(([name, operation]) =>
    messagesOf(asyncapi, operation).map((reference) => {
      const { payload = {}, headers } = deref(asyncapi, reference);
      const content = {
        'application/json': { schema: payload },
        ...(headers !== undefined && { [headersType]: { schema: headers } }),
      };
      const message = refName(text(reference.$ref));
      const response = { description: 'Sent.', ...(operation.action === 'send' && { content }) };
      const body = operation.action === 'receive' && { requestBody: { content } };
      return [`/${name}/${message}`, { post: { ...body, responses: { 200: response } } }] as const;
    }),
  );
  const { schemas = {} } = deref(asyncapi, asyncapi.components);
  return {
    openapi: '3.1.0',
    info: { title: 'Events', version: '1.0.0' },
    paths: Object.fromEntries(paths),
    components: { schemas },
  };
}

/** Converts a pointer into a schema of the converted document to one of the AsyncAPI document. */
export function messagePointer(at: string): string {
  const [, message = '', type = '', place = ''] =
    /^#\/paths\/~1[^/]*~1([^/]+)\/post\/(?:responses\/200|requestBody)\/content\/([^/]+)\/schema(.*)$/.exec(
      at,
    ) ?? [];
  if (message === '') return at;
  return `#/components/messages/${message}/${type === headersType ? 'headers' : 'payload'}${place}`;
}

/** True if a pointer of the AsyncAPI document is in a schema, whose direction only the converted document shows. */
export const isInSchema = (at: string): boolean =>
  /^#\/(components\/schemas|(?:components|channels\/[^/]+)\/messages\/[^/]+\/(payload|headers))(\/|$)/.test(
    at,
  );
