import type { Json, JsonObject } from '../../../openapi/tools/document.ts';
import type { Edit } from './edits.ts';

/** What is edited: one path with its own schemas. Its parts are plain and open, so that each edit is one line. */
export interface HttpCase {
  item: { get?: JsonObject; put?: JsonObject; post?: Operation };
  request: Schema;
  reply: Schema;
}

interface Operation extends JsonObject {
  parameters: JsonObject[];
  requestBody: { required: boolean; content: { [type: string]: JsonObject } };
  responses: { [status: string]: Answer };
}

interface Answer extends JsonObject {
  content: { [type: string]: JsonObject };
}

interface Schema extends JsonObject {
  required: string[];
  properties: { [name: string]: JsonObject };
}

export function httpCase(name: string): HttpCase {
  const answer = (): Answer => ({
    description: 'Done.',
    headers: { 'x-request-id': { description: 'Its id.', schema: { type: 'string' } } },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}Reply` } } },
  });
  return {
    item: {
      get: { operationId: `${name}Read`, summary: 'Read it.', responses: { 200: answer() } },
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
          { name: 'open', in: 'query', required: false, schema: { type: 'string' } },
        ],
        requestBody: {
          required: false,
          content: {
            'application/json': { schema: { $ref: `#/components/schemas/${name}Request` } },
            'multipart/form-data': { schema: { type: 'object' } },
          },
        },
        responses: { 200: answer(), 404: answer() },
      },
    },
    request: {
      type: 'object',
      description: 'What is asked for.',
      required: ['model'],
      properties: {
        model: { type: 'string', maxLength: 50 },
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
        pages: { type: 'integer', default: 1 },
      },
    },
  };
}

const post = ({ item }: HttpCase): Operation => {
  if (item.post === undefined) throw new Error('it was edited away');
  return item.post;
};
const first = (one: HttpCase): JsonObject => post(one).parameters[0] ?? {};
const limits = (one: HttpCase): JsonObject => first(one).schema as JsonObject;
const asked = ({ request }: HttpCase, name: string): JsonObject => request.properties[name] ?? {};
const told = ({ reply }: HttpCase, name: string): JsonObject => reply.properties[name] ?? {};
const text: Json = { type: 'string' };

export const httpEdits: readonly Edit<HttpCase>[] = [
  ['an operation is gone', 'breaks', ({ item }) => delete item.get],
  ['an operation is renamed', 'breaks', (one) => (post(one).operationId = 'renamed')],
  [
    'an operation is added',
    'passes',
    ({ item }) => (item.put = { operationId: 'added', responses: { 204: { description: 'Done.' } } }),
  ],
  ['a description says more', 'passes', (one) => (post(one).summary = 'Make it, if there is none.')],
  ['it is deprecated', 'passes', (one) => (post(one).deprecated = true)],
  ['it is for admins', 'breaks', (one) => (post(one)['x-role'] = 'admin')],
  ['errors have another shape', 'breaks', (one) => (post(one)['x-error-family'] = 'native')],
  ['bodies may have less', 'breaks', (one) => (post(one)['x-body-limit-mb'] = 4)],
  ['bodies may have more', 'passes', (one) => (post(one)['x-body-limit-mb'] = 16)],
  ['bodies get a limit for texts', 'breaks', (one) => (post(one)['x-text-limit-mb'] = 1)],
  ['it asks for another key', 'breaks', (one) => (post(one).security = [{ otherAuth: [] }])],

  ['a parameter is gone', 'breaks', (one) => post(one).parameters.pop()],
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
  ['a parameter is required', 'breaks', (one) => (first(one).required = true)],
  ['a parameter has another type', 'breaks', (one) => (limits(one).type = 'string')],
  ['a parameter may be less', 'breaks', (one) => (limits(one).maximum = 50)],
  ['a parameter may be more', 'passes', (one) => (limits(one).maximum = 200)],
  ['a parameter has another default', 'breaks', (one) => (limits(one).default = 10)],

  ['the body is required', 'breaks', (one) => (post(one).requestBody.required = true)],
  [
    'a type of bodies is gone',
    'breaks',
    (one) => delete post(one).requestBody.content['multipart/form-data'],
  ],
  [
    'a type of bodies is added',
    'passes',
    (one) => (post(one).requestBody.content['text/plain'] = { schema: text }),
  ],
  ['a field of the body is added', 'passes', ({ request }) => (request.properties.more = text)],
  [
    'a required field of the body is added',
    'breaks',
    ({ request }) => {
      request.properties.more = text;
      request.required.push('more');
    },
  ],
  ['a field of the body is required', 'breaks', ({ request }) => request.required.push('kind')],
  ['a field of the body may be left out', 'passes', ({ request }) => request.required.pop()],
  ['a field of the body is gone', 'breaks', ({ request }) => delete request.properties.free],
  ['a field of the body has another type', 'breaks', (one) => (asked(one, 'free').type = 'integer')],
  ['a field of the body may also be null', 'passes', (one) => (asked(one, 'free').type = ['string', 'null'])],
  ['a text may be shorter only', 'breaks', (one) => (asked(one, 'model').maxLength = 40)],
  ['a text may be longer', 'passes', (one) => (asked(one, 'model').maxLength = 60)],
  ['a text must have a form', 'breaks', (one) => (asked(one, 'free').pattern = '^[a-z]+$')],
  ['a list may be shorter only', 'breaks', (one) => (asked(one, 'many').maxItems = 5)],
  ['a value is not taken any more', 'breaks', (one) => (asked(one, 'kind').enum = ['a'])],
  ['a value more is taken', 'passes', (one) => (asked(one, 'kind').enum = ['a', 'b', 'c'])],
  ['a field has another default', 'breaks', (one) => (asked(one, 'count').default = 4)],
  ['a field has no default any more', 'breaks', (one) => delete asked(one, 'count').default],
  ['a default is told for the first time', 'passes', (one) => (asked(one, 'kind').default = 'a')],
  ['unknown fields are refused', 'breaks', ({ request }) => (request.additionalProperties = false)],

  ['a status is gone', 'breaks', (one) => delete post(one).responses[404]],
  [
    'a status is added',
    'passes',
    (one) => (post(one).responses[409] = { description: 'Not now.', content: {} }),
  ],
  [
    'an answer has another type',
    'breaks',
    (one) => {
      const { content } = post(one).responses[200] as Answer;
      content['text/plain'] = { schema: text };
      delete content['application/json'];
    },
  ],
  ['a header of the answer is gone', 'breaks', (one) => delete (post(one).responses[200] as Answer).headers],
  ['a field of the answer is gone', 'breaks', ({ reply }) => delete reply.properties.note],
  ['a field of the answer is added', 'passes', ({ reply }) => (reply.properties.more = text)],
  ['a field of the answer may be missing', 'breaks', ({ reply }) => reply.required.pop()],
  ['a field of the answer is always there', 'passes', ({ reply }) => reply.required.push('note')],
  ['a field of the answer has another type', 'breaks', (one) => (told(one, 'note').type = 'integer')],
  ['a field of the answer may be null', 'breaks', (one) => (told(one, 'note').type = ['string', 'null'])],
  ['a value more is told', 'breaks', (one) => (told(one, 'state').enum = ['a', 'b', 'c'])],
  ['a value is told no more', 'passes', (one) => (told(one, 'state').enum = ['a'])],
  ['an example is told', 'passes', (one) => (told(one, 'id').examples = ['id_1'])],
];
