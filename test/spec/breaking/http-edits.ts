import type { Json, JsonObject } from '../../../openapi/tools/document.ts';
import type { Edit } from './edits.ts';

/** The edited part: a path with its own schemas. Loose types allow one-line edits. */
export interface HttpCase {
  item: { get?: JsonObject; put?: JsonObject; post?: Operation };
  request: Schema;
  reply: Schema;
}

interface Operation extends JsonObject {
  parameters: JsonObject[];
  requestBody: { required: boolean; content: { [type: string]: JsonObject } };
  responses: { [status: string]: Response };
}

interface Response extends JsonObject {
  content: { [type: string]: JsonObject };
}

interface Schema extends JsonObject {
  required: string[];
  properties: { [name: string]: JsonObject };
}

const sunset = (date = '2027-05-31'): JsonObject => ({
  since: '2026-11-01',
  date,
  replacement: 'Use another one.',
});

/** A case whose response is JSON, or an event stream whose events are in the channel of the same name. */
export function httpCase(name: string, responseType: 'json' | 'events' = 'json'): HttpCase {
  const json = { 'application/json': { schema: { $ref: `#/components/schemas/${name}Reply` } } };
  const events = {
    'text/event-stream': { schema: { type: 'string' }, 'x-events': `asyncapi.json#/channels/${name}` },
  };
  const response = (): Response => ({
    description: 'Done.',
    headers: { 'x-request-id': { description: 'Its id.', required: true, schema: { type: 'string' } } },
    content: structuredClone<{ [type: string]: JsonObject }>(responseType === 'json' ? json : events),
  });
  return {
    item: {
      get: { operationId: `${name}Read`, summary: 'Read it.', responses: { 200: response() } },
      post: {
        operationId: `${name}Make`,
        summary: 'Make it.',
        'x-error-family': 'generic',
        'x-body-limit-mb': 8,
        parameters: [
          {
            name: 'size',
            in: 'query',
            required: false,
            description: 'How many.',
            schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
          },
          { name: 'old', in: 'query', deprecated: true, 'x-sunset': sunset(), schema: { type: 'string' } },
          { name: 'open', in: 'query', required: false, schema: { type: 'string' } },
        ],
        requestBody: {
          required: false,
          content: {
            'application/json': { schema: { $ref: `#/components/schemas/${name}Request` } },
            'multipart/form-data': { schema: { type: 'object' } },
          },
        },
        responses: { 200: response(), 404: response() },
      },
    },
    request: {
      type: 'object',
      description: 'The request.',
      required: ['model'],
      properties: {
        model: { type: 'string', maxLength: 50, 'x-limit': [{ models: '^a', limit: 'At most 600 words.' }] },
        kind: { type: 'string', enum: ['a', 'b'] },
        count: { type: 'integer', minimum: 1, default: 3 },
        free: { type: 'string' },
        many: { type: 'array', maxItems: 10, items: { type: 'string' } },
      },
    },
    reply: {
      type: 'object',
      required: ['id', 'state'],
      properties: {
        id: { type: 'string', description: 'Its id.' },
        state: { type: 'string', enum: ['a', 'b'] },
        note: { type: 'string' },
        pages: { type: 'integer', default: 1, deprecated: true, 'x-sunset': sunset() },
      },
    },
  };
}

const post = ({ item }: HttpCase): Operation => {
  if (item.post === undefined) throw new Error('The edit removed the operation.');
  return item.post;
};
const first = (one: HttpCase): JsonObject => post(one).parameters[0] ?? {};
const limits = (one: HttpCase): JsonObject => first(one).schema as JsonObject;
const requestField = ({ request }: HttpCase, name: string): JsonObject => request.properties[name] ?? {};
const responseField = ({ reply }: HttpCase, name: string): JsonObject => reply.properties[name] ?? {};
const okResponse = (one: HttpCase): Response => {
  const response = post(one).responses[200];
  if (response === undefined) throw new Error('The edit removed the response.');
  return response;
};
const okHeader = (one: HttpCase): JsonObject =>
  (okResponse(one).headers as { [name: string]: JsonObject })['x-request-id'] ?? {};
const limit = (limit: string, models = '^a'): JsonObject => ({ models, limit });
const text: Json = { type: 'string' };

export const httpEdits: readonly Edit<HttpCase>[] = [
  ['an operation is removed', 'breaks', ({ item }) => delete item.get],
  ['an operation is renamed', 'breaks', (one) => (post(one).operationId = 'renamed')],
  [
    'an operation is added',
    'passes',
    ({ item }) => (item.put = { operationId: 'added', responses: { 204: { description: 'Done.' } } }),
  ],
  ['a summary changes', 'passes', (one) => (post(one).summary = 'Make it, if there is none.')],
  ['an operation is deprecated', 'passes', (one) => (post(one).deprecated = true)],
  ['an operation requires a role', 'breaks', (one) => (post(one)['x-role'] = 'admin')],
  ['the error family changes', 'breaks', (one) => (post(one)['x-error-family'] = 'native')],
  ['the body limit is lowered', 'breaks', (one) => (post(one)['x-body-limit-mb'] = 4)],
  ['the body limit is raised', 'passes', (one) => (post(one)['x-body-limit-mb'] = 16)],
  ['a text limit is added', 'breaks', (one) => (post(one)['x-text-limit-mb'] = 1)],
  ['the security scheme changes', 'breaks', (one) => (post(one).security = [{ otherAuth: [] }])],

  ['a parameter is removed', 'breaks', (one) => post(one).parameters.pop()],
  [
    'a parameter is added',
    'passes',
    (one) => post(one).parameters.push({ name: 'more', in: 'query', schema: text }),
  ],
  [
    'a required parameter is added',
    'breaks',
    (one) => post(one).parameters.push({ name: 'more', in: 'query', required: true, schema: text }),
  ],
  ['a parameter becomes required', 'breaks', (one) => (first(one).required = true)],
  ['a parameter has another type', 'breaks', (one) => (limits(one).type = 'string')],
  ['the maximum of a parameter is lowered', 'breaks', (one) => (limits(one).maximum = 50)],
  ['the maximum of a parameter is raised', 'passes', (one) => (limits(one).maximum = 200)],
  ['a parameter has another default', 'breaks', (one) => (limits(one).default = 10)],

  [
    'the removal of a parameter moves earlier',
    'breaks',
    (one) => (post(one).parameters[1] = { ...post(one).parameters[1], 'x-sunset': sunset('2027-05-30') }),
  ],
  [
    'the removal of a parameter moves later',
    'passes',
    (one) => (post(one).parameters[1] = { ...post(one).parameters[1], 'x-sunset': sunset('2027-06-01') }),
  ],

  ['the body becomes required', 'breaks', (one) => (post(one).requestBody.required = true)],
  [
    'a body media type is removed',
    'breaks',
    (one) => delete post(one).requestBody.content['multipart/form-data'],
  ],
  [
    'a body media type is added',
    'passes',
    (one) => (post(one).requestBody.content['text/plain'] = { schema: text }),
  ],
  ['a body field is added', 'passes', ({ request }) => (request.properties.more = text)],
  [
    'a required body field is added',
    'breaks',
    ({ request }) => {
      request.properties.more = text;
      request.required.push('more');
    },
  ],
  ['a body field becomes required', 'breaks', ({ request }) => request.required.push('kind')],
  ['a body field becomes optional', 'passes', ({ request }) => request.required.pop()],
  ['a body field is removed', 'breaks', ({ request }) => delete request.properties.free],
  ['a body field has another type', 'breaks', (one) => (requestField(one, 'free').type = 'integer')],
  ['a body field becomes nullable', 'passes', (one) => (requestField(one, 'free').type = ['string', 'null'])],
  ['the maximum length is lowered', 'breaks', (one) => (requestField(one, 'model').maxLength = 40)],
  ['the maximum length is raised', 'passes', (one) => (requestField(one, 'model').maxLength = 60)],
  ['a pattern is added', 'breaks', (one) => (requestField(one, 'free').pattern = '^[a-z]+$')],
  ['the maximum number of items is lowered', 'breaks', (one) => (requestField(one, 'many').maxItems = 5)],
  ['a body value is removed', 'breaks', (one) => (requestField(one, 'kind').enum = ['a'])],
  ['a body value is added', 'passes', (one) => (requestField(one, 'kind').enum = ['a', 'b', 'c'])],
  ['a default changes', 'breaks', (one) => (requestField(one, 'count').default = 4)],
  ['a default is removed', 'breaks', (one) => delete requestField(one, 'count').default],
  ['a default is added', 'passes', (one) => (requestField(one, 'kind').default = 'a')],
  ['unknown fields are rejected', 'breaks', ({ request }) => (request.additionalProperties = false)],

  ['a status is removed', 'breaks', (one) => delete post(one).responses[404]],
  [
    'a status is added',
    'passes',
    (one) => (post(one).responses[409] = { description: 'Not now.', content: {} }),
  ],
  [
    'the media type of a response changes',
    'breaks',
    (one) => {
      const { content } = okResponse(one);
      content['text/plain'] = { schema: text };
      for (const type of Object.keys(content)) if (type !== 'text/plain') delete content[type];
    },
  ],
  ['a response header is removed', 'breaks', (one) => delete okResponse(one).headers],
  ['a response field is removed', 'breaks', ({ reply }) => delete reply.properties.note],
  ['a response field is added', 'passes', ({ reply }) => (reply.properties.more = text)],
  [
    'the removal of a response field moves earlier',
    'breaks',
    (one) => (responseField(one, 'pages')['x-sunset'] = sunset('2027-05-30')),
  ],
  [
    'the removal of a response field moves later',
    'passes',
    (one) => (responseField(one, 'pages')['x-sunset'] = sunset('2027-06-01')),
  ],
  ['a response field becomes optional', 'breaks', ({ reply }) => reply.required.pop()],
  ['a response field becomes required', 'passes', ({ reply }) => reply.required.push('note')],
  ['a response field has another type', 'breaks', (one) => (responseField(one, 'note').type = 'integer')],
  [
    'a response field becomes nullable',
    'breaks',
    (one) => (responseField(one, 'note').type = ['string', 'null']),
  ],
  ['a response value is added', 'breaks', (one) => (responseField(one, 'state').enum = ['a', 'b', 'c'])],
  ['a response value is removed', 'passes', (one) => (responseField(one, 'state').enum = ['a'])],
  ['an example is added', 'passes', (one) => (responseField(one, 'id').examples = ['id_1'])],

  [
    'a limit in words is lowered',
    'breaks',
    (one) => (requestField(one, 'model')['x-limit'] = [limit('At most 500 words.')]),
  ],
  [
    'a limit in words is raised',
    'passes',
    (one) => (requestField(one, 'model')['x-limit'] = [limit('At most 700 words.')]),
  ],
  [
    'a limit in words is added',
    'breaks',
    (one) => (requestField(one, 'free')['x-limit'] = [limit('At most 9 words.')]),
  ],
  [
    'a limit in words is added for other models',
    'breaks',
    (one) => (requestField(one, 'model')['x-limit'] as Json[]).push(limit('At most 900 words.', '^b')),
  ],
  ['a limit in words is removed', 'passes', (one) => delete requestField(one, 'model')['x-limit']],
  [
    'a limit in words has another meaning',
    'breaks',
    (one) => (requestField(one, 'model')['x-limit'] = [limit('At least 600 words.')]),
  ],
  [
    'a limit in words is added to a response',
    'passes',
    (one) => (responseField(one, 'note')['x-limit'] = [limit('At most 9 words.')]),
  ],
  ['a response header becomes optional', 'breaks', (one) => (okHeader(one).required = false)],
  ['the requirement of a response header is removed', 'breaks', (one) => delete okHeader(one).required],
  [
    'the description of a response header changes',
    'passes',
    (one) => (okHeader(one).description = 'The id.'),
  ],
];

/**
 * Edits whose verdict is the opposite in a callback. There, the gateway sends the request and its parameters, and the
 * client sends the response.
 */
export const oppositeInCallback: ReadonlySet<string> = new Set([
  // Extensions of operations that clients call.
  'an operation requires a role',
  'the error family changes',
  'the body limit is lowered',
  'a text limit is added',

  'a required parameter is added',
  'a parameter becomes required',
  'the maximum of a parameter is lowered',
  'the maximum of a parameter is raised',
  'a parameter has another default',

  'the body becomes required',
  'a body media type is added',
  'a required body field is added',
  'a body field becomes required',
  'a body field becomes optional',
  'a body field becomes nullable',
  'the maximum length is lowered',
  'the maximum length is raised',
  'a pattern is added',
  'the maximum number of items is lowered',
  'a body value is removed',
  'a body value is added',
  'a default changes',
  'a default is removed',
  'unknown fields are rejected',

  'a response header is removed',
  'a response field becomes optional',
  'a response field becomes required',
  'a response field becomes nullable',
  'a response value is added',
  'a response value is removed',

  'a limit in words is lowered',
  'a limit in words is added',
  'a limit in words is added for other models',
  'a limit in words has another meaning',
  'a limit in words is added to a response',
  'a response header becomes optional',
  'the requirement of a response header is removed',
]);
