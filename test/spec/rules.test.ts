import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Fixture {
  rule: string;
  name: string;
  /** Expected messages, in order. Empty if the fixture passes. */
  messages: RegExp[];
  /** Expected file and pointer of each problem. */
  at?: string[];
  document: object;
  options?: object;
}

const ok = { '200': { description: 'ok' } };
const openapi = (operation: object, components: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Fixture', version: '1' },
  paths: { '/things': { get: operation } },
  components,
});
const withBody = (mediaType: string, body: object, status = '200') =>
  openapi({
    operationId: 'getThing',
    responses: { [status]: { description: 'x', content: { [mediaType]: body } } },
  });
const withError = (family: string | undefined, schema: object) =>
  openapi({
    operationId: 'getThing',
    'x-error-family': family,
    responses: { ...ok, '404': { description: 'x', content: { 'application/json': { schema } } } },
  });
const withErrorExamples = (family: string, examples: object) =>
  openapi({
    operationId: 'getThing',
    'x-error-family': family,
    responses: {
      ...ok,
      '404': { description: 'x', content: { 'application/json': { schema: { type: 'object' }, examples } } },
    },
  });
const withSchema = (schema: object) =>
  openapi({ operationId: 'getThing', responses: ok }, { schemas: { Thing: schema } });
const withPlaces = (places: object, operation: object, schema: object = { type: 'object' }) => ({
  rule: 'decision-where-open',
  options: { places },
  document: openapi({ operationId: 'getThing', responses: ok, ...operation }, { schemas: { Thing: schema } }),
});
const events = (payload: object, ...examples: object[]) => ({
  asyncapi: '3.0.0',
  info: { title: 'Fixture', version: '1' },
  channels: { socket: { address: '/socket', messages: { hello: { payload, examples } } } },
});
/** An AsyncAPI document with the same fields in its message and its operation. */
const withEvents = (fields: object) => ({
  asyncapi: '3.0.0',
  info: { title: 'Fixture', version: '1' },
  channels: {
    socket: { address: '/socket', messages: { hello: { payload: { type: 'object' }, ...fields } } },
  },
  operations: { send: { action: 'send', channel: { $ref: '#/channels/socket' }, ...fields } },
});
const requestId = { 'x-request-id': { schema: { type: 'string' } } };
const withStatuses = (statuses: number[], operation: object = {}) => ({
  ...openapi({
    operationId: 'getThing',
    responses: Object.fromEntries(statuses.map((status) => [status, { description: 'x' }])),
    ...operation,
  }),
  security: [{ key: [] }],
});
const json = { type: 'object', description: 'x' };
const list = { type: 'array', description: 'x', items: json };
const query = (schema: object) => ({ name: 'q', in: 'query', description: 'x', schema });
const sunset = {
  deprecated: true,
  'x-sunset': { since: '2026-11-01', date: '2027-05-31', replacement: 'Use listThings.' },
};
const jsonBody = (schema: object) => ({ content: { 'application/json': { schema } } });

const atPath = (path: string, operation: object) => ({
  ...openapi({}),
  paths: { [path]: { post: { operationId: 'createThing', responses: ok, ...operation } } },
});
const adminOnly = { tags: ['admin'], 'x-role': 'admin', 'x-extension': true };

const fixtures: Fixture[] = [
  {
    rule: 'admin-area',
    name: 'accepts an operation of the area, and one outside the area without a role',
    messages: [],
    document: {
      ...openapi({ operationId: 'getThing', tags: ['things'], responses: ok }),
      ...atPath('/api/admin/things', adminOnly),
    },
  },
  ...(
    [
      ['no role', { 'x-role': undefined }, /createThing at \/api\/admin\/things must have x-role: admin/],
      ['another role', { 'x-role': 'user' }, /must have x-role: admin/],
      ['no x-extension', { 'x-extension': undefined }, /must have x-extension: true/],
      ['another tag', { tags: ['things'] }, /must have only the tag admin/],
      ['a second tag', { tags: ['admin', 'things'] }, /must have only the tag admin/],
      ['no key', { security: [] }, /must not override security/],
    ] as const
  ).map(([what, change, message]) => ({
    rule: 'admin-area',
    name: `rejects an operation of the area with ${what}`,
    messages: [message],
    at: ['openapi.yaml#/paths/~1api~1admin~1things'],
    document: atPath('/api/admin/things', { ...adminOnly, ...change }),
  })),
  ...(
    [
      ['has a role', { 'x-role': 'admin' }, /createThing at \/things must not have x-role/],
      ['has its tag', { tags: ['admin'] }, /must not have the tag admin/],
    ] as const
  ).map(([what, change, message]) => ({
    rule: 'admin-area',
    name: `rejects an operation outside the area that ${what}`,
    messages: [message],
    document: atPath('/things', { tags: ['things'], ...change }),
  })),
  {
    rule: 'limit-form',
    name: 'accepts notes with and without models',
    messages: [],
    document: withSchema({
      type: 'string',
      'x-limit': [{ limit: 'At most 3 in all.' }, { models: '^voxa-', limit: 'At most 2.' }],
    }),
  },
  {
    rule: 'limit-form',
    name: 'rejects a value that is not a list',
    messages: [/must be a list/],
    document: withSchema({ type: 'string', 'x-limit': 'At most 3.' }),
  },
  {
    rule: 'limit-form',
    name: 'rejects notes without a sentence, without a matching model, or with unknown keys',
    messages: [/limit must be a sentence/, /models must match/, /models must match/, /max is unknown/],
    document: withSchema({
      type: 'string',
      'x-limit': [
        { limit: 'three' },
        { models: '^none-', limit: 'At most 2.' },
        { models: '(', limit: 'At most 2.' },
        { limit: 'At most 2.', max: 2 },
      ],
    }),
  },
  {
    rule: 'operation-id-form',
    name: 'accepts a verb and a noun',
    messages: [],
    document: openapi({ operationId: 'createThing3D', responses: ok }),
  },
  {
    rule: 'operation-id-form',
    name: 'rejects a verb that is not on the list',
    messages: [/"makeThing" must be verbNoun/],
    document: openapi({ operationId: 'makeThing', responses: ok }),
  },
  {
    rule: 'operation-id-form',
    name: 'rejects an id in another case',
    messages: [/"create_thing" must be verbNoun/],
    document: openapi({ operationId: 'create_thing', responses: ok }),
  },
  {
    rule: 'operation-id-form',
    name: 'rejects a missing id',
    messages: [/undefined must be verbNoun/],
    document: openapi({ responses: ok }),
  },
  {
    rule: 'operation-has-examples',
    name: 'accepts a named example',
    messages: [],
    document: withBody('application/json', { schema: json, examples: { one: { value: {} } } }),
  },
  {
    rule: 'operation-has-examples',
    name: 'rejects a response without one',
    messages: [/application\/json must have/],
    document: withBody('application/json', { schema: json }),
  },
  {
    rule: 'operation-has-examples',
    name: 'rejects an event stream without one',
    messages: [/text\/event-stream must have/],
    document: withBody('text/event-stream', { schema: { type: 'string' } }),
  },
  {
    rule: 'operation-has-examples',
    name: 'ignores binary bodies',
    messages: [],
    document: withBody('audio/wav', { schema: { type: 'string', format: 'binary' } }),
  },
  {
    rule: 'operation-has-examples',
    name: 'rejects a JSON request without one',
    messages: [/application\/json must have/],
    document: openapi({
      operationId: 'getThing',
      requestBody: { content: { 'application/json': { schema: json } } },
      responses: ok,
    }),
  },
  {
    rule: 'error-family',
    name: 'accepts the body of the family',
    messages: [],
    document: withError('generic', { $ref: 'errors/GenericError.yaml' }),
  },
  {
    rule: 'error-family',
    name: "rejects another family's body",
    messages: [/The 404 body of getThing must be ManagementError, not GenericError/],
    document: withError('management', { $ref: 'errors/GenericError.yaml' }),
  },
  {
    rule: 'error-family',
    name: 'rejects an operation without a family',
    messages: [/x-error-family must be one of/],
    document: withError(undefined, { $ref: 'errors/GenericError.yaml' }),
  },
  {
    rule: 'error-family',
    name: 'rejects an error without a body',
    messages: [/The 500 body of getThing must be GenericError, not empty/],
    document: openapi({
      operationId: 'getThing',
      'x-error-family': 'generic',
      responses: { '500': { description: 'x' } },
    }),
  },
  {
    rule: 'error-code',
    name: 'accepts a code of the status and family, and a provider error',
    messages: [],
    document: withErrorExamples('native', {
      gateway: { value: { error: { code: 'resource_not_found' } } },
      provider: { value: { code: 'ModelNotFound' } },
    }),
  },
  {
    rule: 'error-code',
    name: 'rejects an unknown code, and a code of another status or family',
    messages: [
      /no code task_gone with status 404/,
      /no code access_denied with status 404/,
      /no code voice_not_found with status 404 in family messages/,
    ],
    document: withErrorExamples('messages', {
      unknown: { value: { error: { code: 'task_gone' } } },
      otherStatus: { value: { error: { code: 'access_denied' } } },
      otherFamily: { value: { error: { code: 'voice_not_found' } } },
    }),
  },
  {
    rule: 'body-limit',
    name: 'accepts a body with limits',
    messages: [],
    document: openapi({
      operationId: 'createThing',
      'x-body-limit-mb': 2,
      'x-text-limit-mb': 0.5,
      requestBody: jsonBody(json),
      responses: ok,
    }),
  },
  ...(
    [
      [{ requestBody: jsonBody(json) }, /must have x-body-limit-mb/],
      [{ requestBody: jsonBody(json), 'x-body-limit-mb': 0 }, /must have x-body-limit-mb/],
      [
        { requestBody: jsonBody(json), 'x-body-limit-mb': 2, 'x-text-limit-mb': 2 },
        /less than x-body-limit-mb/,
      ],
      [{ 'x-body-limit-mb': 1 }, /must not have a body limit/],
    ] as const
  ).map(([operation, message], index) => ({
    rule: 'body-limit',
    name: `rejects a missing, invalid or superfluous limit ${index}`,
    messages: [message],
    document: openapi({ operationId: 'createThing', responses: ok, ...operation }),
  })),
  {
    rule: 'request-bounded',
    name: 'accepts lists and integers with bounds, in bodies and parameters',
    messages: [],
    document: openapi({
      operationId: 'getThing',
      parameters: [query({ type: 'integer', description: 'x', minimum: 1, exclusiveMaximum: 9 })],
      requestBody: jsonBody({
        ...json,
        properties: {
          list: { type: 'array', description: 'x', maxItems: 3, items: json },
          choice: { type: 'integer', description: 'x', enum: [1, 2] },
          plain: { type: 'number', description: 'x' },
        },
        // Restates fields without limits.
        if: { properties: { list: { type: 'array', minItems: 1 }, whole: { type: 'integer', minimum: 0 } } },
      }),
      responses: ok,
    }),
  },
  {
    rule: 'request-bounded',
    name: 'rejects a list without maxItems and an integer without a bound, also through a $ref',
    messages: [
      /An integer in a request must have a minimum/,
      /An integer in a request must have a maximum/,
      /An array in a request must have maxItems/,
      /An integer in a request must have a maximum/,
    ],
    document: openapi(
      {
        operationId: 'getThing',
        parameters: [query({ type: 'integer', description: 'x' })],
        requestBody: jsonBody({ $ref: '#/components/schemas/Thing' }),
        responses: ok,
      },
      {
        schemas: {
          Thing: {
            type: 'array',
            items: { anyOf: [json, { type: ['integer', 'null'], description: 'x', minimum: 0 }] },
          },
        },
      },
    ),
  },
  {
    rule: 'request-bounded',
    name: 'ignores responses',
    messages: [],
    document: withBody('application/json', { schema: { type: 'array', items: { type: 'integer' } } }),
  },
  {
    rule: 'field-described',
    name: 'accepts a description, directly or through a $ref',
    messages: [],
    document: withSchema({ properties: { a: json, b: { $ref: 'errors/GenericError.yaml' } } }),
  },
  {
    rule: 'field-described',
    name: 'rejects a property without a description',
    messages: [/Property a must/],
    document: withSchema({ properties: { a: { type: 'string' } } }),
  },
  {
    rule: 'field-described',
    name: 'rejects a parameter without a description',
    messages: [/Parameter q must/],
    document: openapi({
      operationId: 'getThing',
      parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }],
      responses: ok,
    }),
  },
  {
    rule: 'field-described',
    name: 'ignores the branches of a conditional',
    messages: [],
    document: withSchema({ properties: { a: json }, if: { properties: { a: { required: ['b'] } } } }),
  },
  {
    rule: 'field-described',
    name: 'ignores a branch that restates a field',
    messages: [],
    document: withSchema({ properties: { a: json }, anyOf: [{ properties: { a: { minProperties: 1 } } }] }),
  },
  {
    rule: 'field-described',
    name: 'rejects a field without a description that only a branch has',
    messages: [/Property b must/],
    document: withSchema({ properties: { a: json }, anyOf: [{ properties: { b: { type: 'string' } } }] }),
  },
  {
    rule: 'field-described',
    name: 'rejects array items and their fields without a description',
    messages: [/items of an array must/, /Property a must/, /items of an array must/],
    document: withSchema({
      type: 'array',
      items: {
        type: 'object',
        properties: { list: { ...json, type: 'array', items: { type: 'string' } }, a: { type: 'string' } },
      },
    }),
  },
  {
    rule: 'field-described',
    name: 'accepts items with a description, or in a conditional',
    messages: [],
    document: withSchema({
      type: 'array',
      items: { $ref: 'errors/GenericError.yaml' },
      if: { type: 'array', items: { type: 'object' } },
    }),
  },
  {
    rule: 'field-described',
    name: 'checks event payloads',
    messages: [/Property a must/],
    document: events({ type: 'object', properties: { a: { type: 'string' } } }),
  },
  {
    rule: 'request-bounded',
    name: 'ignores allOf in a limited array',
    messages: [],
    document: openapi({
      operationId: 'getThing',
      requestBody: jsonBody({ ...list, maxItems: 3, allOf: [{ ...list, contains: json, maxContains: 1 }] }),
      responses: ok,
    }),
  },
  {
    rule: 'schema-typed',
    name: 'accepts types, unions of types, and conditionals without one',
    messages: [],
    document: withSchema({
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'string' } },
        pair: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'integer' } },
        either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        nothing: { type: 'object', maxProperties: 0 },
      },
      anyOf: [{ ...json, additionalProperties: true, required: ['list'] }, { const: 'x' }],
      allOf: [{ if: { required: ['list'] } }],
    }),
  },
  {
    rule: 'schema-typed',
    name: 'rejects an object without fields and additionalProperties',
    messages: [/must have additionalProperties/],
    document: withSchema({
      anyOf: [
        { type: 'object', required: ['a'] },
        { type: 'object', required: ['b'], additionalProperties: true },
      ],
    }),
  },
  {
    rule: 'schema-typed',
    name: 'rejects a schema without a type and an array without items',
    messages: [/must have a type/, /must have items/, /must have a type/, /must have items/],
    document: withSchema({
      type: 'object',
      properties: { limits: { allOf: [{ if: json }] }, list: { type: 'array', contains: json } },
      not: { type: 'array', prefixItems: [{ type: 'string' }] },
      anyOf: [{ type: 'object', additionalProperties: true }, { required: ['list'] }],
    }),
  },
  {
    rule: 'sunset-form',
    name: 'accepts a deprecated operation, parameter and field',
    messages: [],
    document: openapi(
      { operationId: 'getThing', responses: ok, ...sunset, parameters: [{ ...query(json), ...sunset }] },
      { schemas: { Thing: { ...json, properties: { a: { ...json, ...sunset }, b: json } } } },
    ),
  },
  {
    rule: 'sunset-form',
    name: 'rejects a deprecated element without x-sunset, and x-sunset without deprecated',
    messages: [/must have x-sunset/, /requires deprecated: true/],
    document: openapi(
      { operationId: 'getThing', responses: ok, deprecated: true },
      { schemas: { Thing: { ...json, 'x-sunset': sunset['x-sunset'] } } },
    ),
  },
  {
    rule: 'sunset-form',
    name: 'rejects other dates, orders, fields and replacements',
    messages: [
      /soon is unknown/,
      /since must be a date/,
      /date must be a date/,
      /must be a sentence/,
      /after since/,
    ],
    document: withSchema({
      type: 'object',
      properties: {
        a: {
          ...json,
          deprecated: true,
          'x-sunset': { since: '2027-02-30', date: 'next year', soon: true, replacement: 'listThings' },
        },
        b: {
          ...json,
          deprecated: true,
          'x-sunset': { since: '2027-02-01', date: '2027-02-01', replacement: 'Use c.' },
        },
      },
    }),
  },
  {
    rule: 'message-described',
    name: 'accepts a message and an operation with a description',
    messages: [],
    document: withEvents({ description: 'x' }),
  },
  {
    rule: 'message-described',
    name: 'rejects a message and an operation without one',
    messages: [/A message must have/, /An operation must have/],
    document: withEvents({}),
  },
  {
    rule: 'schema-title',
    name: 'accepts a file with its name as title, and any title in a file',
    messages: [],
    document: withSchema({
      type: 'object',
      properties: { own: { title: 'Other', type: 'string' }, file: { $ref: 'Titled.yaml' } },
    }),
  },
  {
    rule: 'schema-title',
    name: 'rejects a file with another title or none',
    messages: [/must be its name, GenericError/],
    document: withSchema({ type: 'object', properties: { file: { $ref: 'errors/GenericError.yaml' } } }),
  },
  {
    rule: 'reply-suffix',
    name: 'accepts a reply, a resource, and a body without a name',
    messages: [],
    document: openapi(
      {
        operationId: 'getThing',
        responses: Object.fromEntries(
          ['ThingReply', 'Message', undefined].map((name, index) => [
            `20${index}`,
            {
              description: 'x',
              content: {
                'application/json': { schema: name ? { $ref: `#/components/schemas/${name}` } : json },
              },
            },
          ]),
        ),
      },
      { schemas: { ThingReply: json, Message: json } },
    ),
  },
  {
    rule: 'reply-suffix',
    name: 'rejects another name',
    messages: [/ThingResponse is the response of getThing, so its name must end in Reply/],
    document: openapi(
      {
        operationId: 'getThing',
        responses: {
          '200': {
            description: 'x',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/ThingResponse' } } },
          },
        },
      },
      { schemas: { ThingResponse: json } },
    ),
  },
  {
    rule: 'no-boolean-schema',
    name: 'accepts additionalProperties: true',
    messages: [],
    document: withSchema({ type: 'object', additionalProperties: true }),
  },
  {
    rule: 'no-boolean-schema',
    name: 'rejects true instead of a schema',
    messages: [/must be an object/, /must be an object/],
    document: withSchema({ properties: { a: true }, anyOf: [json, false] }),
  },
  {
    rule: 'no-boolean-schema',
    name: 'rejects a range of statuses',
    messages: [/4XX is a range of statuses/],
    document: withBody('application/json', { schema: json }, '4XX'),
  },
  {
    name: 'accepts a decision on the operation',
    messages: [],
    ...withPlaces({ getThing: 'the body' }, { 'x-decision': 'Chosen by the gateway.' }),
  },
  {
    name: 'rejects an operation without one',
    messages: [/getThing must have x-decision, because the interface leaves open the body/],
    at: ['openapi.yaml#/paths/~1things/get'],
    ...withPlaces({ getThing: 'the body' }, {}),
  },
  {
    name: 'rejects an empty decision',
    messages: [/getThing must have/],
    ...withPlaces({ getThing: 'the body' }, { 'x-decision': ' ' }),
  },
  {
    name: 'accepts a decision on the named field of a file',
    messages: [],
    ...withPlaces(
      { 'openapi.yaml#size': 'its values' },
      {},
      { properties: { size: { 'x-decision': 'Any.' } } },
    ),
  },
  {
    name: 'rejects a decision on another field',
    messages: [/openapi\.yaml#size must have/],
    at: ['openapi.yaml#/components/schemas/Thing/properties/size'],
    ...withPlaces(
      { 'openapi.yaml#size': 'its values' },
      {},
      { properties: { other: { 'x-decision': 'Any.' }, size: { type: 'string' } } },
    ),
  },
  {
    name: 'reports the file of a missing decision',
    messages: [/errors\/GenericError\.yaml must have/],
    at: ['errors/GenericError.yaml#/'],
    ...withPlaces(
      { 'errors/GenericError.yaml': 'its fields' },
      {},
      { properties: { error: { $ref: 'errors/GenericError.yaml' } } },
    ),
  },
  {
    name: 'reports places that are not in the spec',
    messages: [
      /^Remove getOther from open-places\.yaml/,
      /^Remove openapi\.yaml#size from/,
      /^Remove Other\.yaml from/,
    ],
    ...withPlaces(
      { getOther: 'the body', 'openapi.yaml#size': 'its values', 'Other.yaml': 'its fields' },
      {},
    ),
  },
  {
    rule: 'decision-names-protocol',
    name: 'accepts a decision that names its protocol, or follows none',
    messages: [],
    document: withSchema({
      'x-decision': 'The range of the OpenAI Speech API; the ids are public.',
      properties: { a: { 'x-decision': 'The gateway sets the limit.' } },
    }),
  },
  {
    rule: 'decision-names-protocol',
    name: 'rejects a protocol without a name, also next to a $ref',
    messages: [/instead of "public protocol"/, /instead of "public native protocol"/],
    document: withSchema({
      'x-decision': 'As in the public protocol.',
      properties: { a: { $ref: 'Titled.yaml', 'x-decision': 'Taken from the public native protocol.' } },
    }),
  },
  {
    rule: 'events-named',
    name: 'accepts an event stream that names its channel',
    messages: [],
    document: withBody('text/event-stream', { schema: json, 'x-events': 'asyncapi.json#/channels/things' }),
  },
  ...[undefined, '#/channels/things', 'asyncapi.json#/components/messages/Thing'].map((name) => ({
    rule: 'events-named',
    name: `rejects ${name} as the channel of a stream`,
    messages: [/must name its channel in x-events/],
    document: withBody('text/event-stream', { schema: json, 'x-events': name }),
  })),
  {
    rule: 'message-examples',
    name: 'accepts an example that matches the schemas',
    messages: [],
    document: events({ $ref: 'Titled.yaml' }, { name: 'empty', payload: {} }),
  },
  {
    rule: 'message-examples',
    name: 'rejects a mismatch at its value',
    messages: [/The example must be object/, /The example at \/size must be >= 1/],
    at: [
      'openapi.yaml#/channels/socket/messages/hello/examples/0/payload',
      'openapi.yaml#/channels/socket/messages/hello/examples/1/payload/size',
    ],
    document: events(
      { type: 'object', properties: { size: { type: 'integer', minimum: 1 } } },
      { payload: 'text' },
      { payload: { size: 0 } },
    ),
  },
  {
    rule: 'message-examples',
    name: 'states the allowed values',
    messages: [/The example at \/type must be equal to constant "a"\./, /at \/size must be .*: 1, 2\.$/],
    document: events(
      {
        type: 'object',
        properties: { type: { type: 'string', const: 'a' }, size: { type: 'integer', enum: [1, 2] } },
      },
      { payload: { type: 'b' } },
      { payload: { size: 0 } },
    ),
  },
  {
    rule: 'message-examples',
    name: 'leaves a missing file to no-unresolved-refs',
    messages: [],
    document: events({ $ref: 'schemas/Missing.yaml' }, { payload: 1 }),
  },
  {
    rule: 'message-examples',
    name: 'reports a schema that is invalid',
    messages: [/The schema of the example cannot be used: schema is invalid/],
    document: events({ type: 'strung' }, { payload: 1 }),
  },
  {
    rule: 'message-examples',
    name: 'reports the files of examples and schemas',
    messages: [/The example must be object/],
    at: ['parts/examples.yaml#/0/payload'],
    document: {
      ...events({}),
      channels: {
        socket: {
          address: '/socket',
          messages: {
            hello: { payload: { $ref: 'schemas/Thing.yaml' }, examples: { $ref: 'parts/examples.yaml' } },
          },
        },
      },
    },
  },
  {
    rule: 'no-orphan-file',
    name: 'rejects a file without a reference',
    messages: [
      /openapi\.yaml does not reference errors\/GenericError\.yaml/,
      /reference parts\/examples\.yaml/,
    ],
    document: withSchema({ $ref: 'schemas/Thing.yaml' }),
  },
  {
    rule: 'no-orphan-file',
    name: 'accepts referenced files, including lists',
    messages: [],
    document: {
      ...events({}),
      channels: {
        socket: {
          address: '/socket',
          messages: {
            hello: {
              payload: { anyOf: [{ $ref: 'errors/GenericError.yaml' }, { $ref: 'schemas/Thing.yaml' }] },
              examples: { $ref: 'parts/examples.yaml' },
            },
          },
        },
      },
    },
  },
  {
    rule: 'request-id-header',
    name: 'accepts responses with the header, and handshakes and callbacks without it',
    messages: [],
    document: openapi({
      operationId: 'getThing',
      responses: { '101': { description: 'x' }, '200': { description: 'x', headers: requestId } },
      callbacks: { done: { '{$request.query.url}': { post: { responses: ok } } } },
    }),
  },
  {
    rule: 'request-id-header',
    name: 'rejects a success or an error without the header',
    messages: [/200 of getThing must have the header/, /404 of getThing must have the header/],
    document: openapi({
      operationId: 'getThing',
      responses: { ...ok, '404': { description: 'x', headers: { other: requestId['x-request-id'] } } },
    }),
  },
  {
    rule: 'standard-errors',
    name: 'accepts the standard statuses',
    messages: [],
    document: withStatuses([200, 401, 429, 500, 503]),
  },
  {
    rule: 'standard-errors',
    name: 'requires fewer statuses without a key',
    messages: [],
    document: withStatuses([200, 500], { security: [] }),
  },
  {
    rule: 'standard-errors',
    name: 'rejects an operation without some statuses',
    messages: [/getThing must document 401, 503/],
    document: withStatuses([200, 429, 500]),
  },
  {
    rule: 'standard-errors',
    name: 'requires more statuses for parameters and bodies',
    messages: [/getThing must document 400, 413, 415/],
    document: withStatuses([200, 401, 429, 500, 503], {
      parameters: [query({ type: 'string' })],
      requestBody: jsonBody(json),
    }),
  },
];

const root = mkdtempSync(join(tmpdir(), 'rules-'));
const plugin = fileURLToPath(new URL('../../openapi/rules/plugin.ts', import.meta.url));
const cli = fileURLToPath(new URL('../../node_modules/@redocly/cli/bin/cli.js', import.meta.url));

const write = (path: string, content: object) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), JSON.stringify(content));
};

interface Problem {
  ruleId: string;
  message: string;
  location: { source: { ref: string }; pointer?: string }[];
}

let problems: Problem[] = [];

// One linter run covers all fixtures: each is an API with one rule.
beforeAll(() => {
  const apis = fixtures.map(({ rule, document, options }, index) => {
    write(`f${index}/openapi.yaml`, document);
    write(`f${index}/errors/GenericError.yaml`, json);
    write(`f${index}/schemas/Thing.yaml`, json);
    write(`f${index}/parts/examples.yaml`, [{ payload: 1 }]);
    write(`f${index}/Titled.yaml`, { ...json, title: 'Titled' });
    const rules = { [`unigate/${rule}`]: { severity: 'error', ...options } };
    return [`f${index}`, { root: `f${index}/openapi.yaml`, rules }];
  });
  write('redocly.yaml', { telemetry: 'off', plugins: [plugin], apis: Object.fromEntries(apis) });
  problems = lintReport();
}, 60_000);

afterAll(() => rmSync(root, { recursive: true }));

function lintReport(): Problem[] {
  let text = '';
  try {
    text = execFileSync(process.execPath, [cli, 'lint', '--format=json'], {
      cwd: root,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  } catch (error) {
    // The linter exits with status 1 if it finds problems.
    text = (error as { stdout: string }).stdout;
  }
  const reports = JSON.parse(`[${text.trim().replace(/^\}\{$/gm, '},{')}]`) as { problems: Problem[] }[];
  expect(reports).toHaveLength(fixtures.length);
  return reports.flatMap((report) => report.problems);
}

describe.each(fixtures.map((fixture, index) => ({ ...fixture, index })))(
  'unigate/$rule',
  ({ rule, name, messages, at, index }) => {
    test(name, () => {
      const found = problems.filter((problem) => problem.location[0]?.source.ref.startsWith(`f${index}/`));
      for (const { ruleId } of found) expect(ruleId).toBe(`unigate/${rule}`);
      expect(found.map(({ message }) => message)).toEqual(
        messages.map((pattern) => expect.stringMatching(pattern)),
      );
      const places = found.map(
        ({ location: [place] }) => `${place?.source.ref.replace(`f${index}/`, '')}${place?.pointer}`,
      );
      if (at) expect(places).toEqual(at);
    });
  },
);
