import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Fixture {
  rule: string;
  name: string;
  /** What the rule must say, in order; nothing when the fixture passes. */
  says: RegExp[];
  /** Where it must say it: file and pointer of each problem. */
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
const jsonBody = (schema: object) => ({ content: { 'application/json': { schema } } });

const atPath = (path: string, operation: object) => ({
  ...openapi({}),
  paths: { [path]: { post: { operationId: 'createThing', responses: ok, ...operation } } },
});
const forAdmins = { tags: ['admin'], 'x-role': 'admin', 'x-extension': true };

const fixtures: Fixture[] = [
  {
    rule: 'admin-area',
    name: 'takes an operation of the area, and one outside of it for everyone',
    says: [],
    document: {
      ...openapi({ operationId: 'getThing', tags: ['things'], responses: ok }),
      ...atPath('/api/admin/things', forAdmins),
    },
  },
  ...(
    [
      ['no role', { 'x-role': undefined }, /createThing at \/api\/admin\/things must have x-role: admin/],
      ['another role', { 'x-role': 'user' }, /must have x-role: admin/],
      ['no mark as an extension', { 'x-extension': undefined }, /must have x-extension: true/],
      ['another tag', { tags: ['things'] }, /must have the tag admin, and no other/],
      ['a second tag', { tags: ['admin', 'things'] }, /must have the tag admin, and no other/],
      ['no key', { security: [] }, /must ask for a key/],
    ] as const
  ).map(([what, change, says]) => ({
    rule: 'admin-area',
    name: `refuses an operation of the area with ${what}`,
    says: [says],
    at: ['openapi.yaml#/paths/~1api~1admin~1things'],
    document: atPath('/api/admin/things', { ...forAdmins, ...change }),
  })),
  ...(
    [
      ['asks for a role', { 'x-role': 'admin' }, /createThing at \/things must not ask for a role/],
      ['has its tag', { tags: ['admin'] }, /must not have the tag admin/],
    ] as const
  ).map(([what, change, says]) => ({
    rule: 'admin-area',
    name: `refuses an operation outside of the area that ${what}`,
    says: [says],
    document: atPath('/things', { tags: ['things'], ...change }),
  })),
  {
    rule: 'limit-form',
    name: 'takes notes with and without models',
    says: [],
    document: withSchema({
      type: 'string',
      'x-limit': [{ limit: 'At most 3 in all.' }, { models: '^voxa-', limit: 'At most 2.' }],
    }),
  },
  {
    rule: 'limit-form',
    name: 'refuses what is no list',
    says: [/must be a list/],
    document: withSchema({ type: 'string', 'x-limit': 'At most 3.' }),
  },
  {
    rule: 'limit-form',
    name: 'refuses notes that say nothing, of no model, or something else',
    says: [/limit must be a sentence/, /models must match/, /models must match/, /there is no max/],
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
    name: 'takes a verb and a noun',
    says: [],
    document: openapi({ operationId: 'createThing3D', responses: ok }),
  },
  {
    rule: 'operation-id-form',
    name: 'refuses a verb that is not on the list',
    says: [/"makeThing" must be verbNoun/],
    document: openapi({ operationId: 'makeThing', responses: ok }),
  },
  {
    rule: 'operation-id-form',
    name: 'refuses a verb alone and other cases',
    says: [/"create_thing" must be verbNoun/],
    document: openapi({ operationId: 'create_thing', responses: ok }),
  },
  {
    rule: 'operation-id-form',
    name: 'refuses a missing id',
    says: [/undefined must be verbNoun/],
    document: openapi({ responses: ok }),
  },
  {
    rule: 'operation-has-examples',
    name: 'takes a named example',
    says: [],
    document: withBody('application/json', { schema: json, examples: { one: { value: {} } } }),
  },
  {
    rule: 'operation-has-examples',
    name: 'refuses a response without one',
    says: [/application\/json must have/],
    document: withBody('application/json', { schema: json }),
  },
  {
    rule: 'operation-has-examples',
    name: 'refuses an event stream without one',
    says: [/text\/event-stream must have/],
    document: withBody('text/event-stream', { schema: { type: 'string' } }),
  },
  {
    rule: 'operation-has-examples',
    name: 'asks none of bytes',
    says: [],
    document: withBody('audio/wav', { schema: { type: 'string', format: 'binary' } }),
  },
  {
    rule: 'operation-has-examples',
    name: 'refuses a JSON request without one',
    says: [/application\/json must have/],
    document: openapi({
      operationId: 'getThing',
      requestBody: { content: { 'application/json': { schema: json } } },
      responses: ok,
    }),
  },
  {
    rule: 'error-family',
    name: 'takes the body of the family',
    says: [],
    document: withError('generic', { $ref: 'errors/GenericError.yaml' }),
  },
  {
    rule: 'error-family',
    name: "refuses another family's body",
    says: [/404 of getThing must be JSON of ManagementError, not GenericError/],
    document: withError('management', { $ref: 'errors/GenericError.yaml' }),
  },
  {
    rule: 'error-family',
    name: 'refuses an operation without a family',
    says: [/x-error-family must be one of/],
    document: withError(undefined, { $ref: 'errors/GenericError.yaml' }),
  },
  {
    rule: 'error-family',
    name: 'refuses an error without a body',
    says: [/500 of getThing must be JSON of GenericError, not nothing/],
    document: openapi({
      operationId: 'getThing',
      'x-error-family': 'generic',
      responses: { '500': { description: 'x' } },
    }),
  },
  {
    rule: 'error-code',
    name: 'takes a code of the status and the family, and what a provider says',
    says: [],
    document: withErrorExamples('native', {
      ours: { value: { error: { code: 'resource_not_found' } } },
      theirs: { value: { code: 'ModelNotFound' } },
    }),
  },
  {
    rule: 'error-code',
    name: 'refuses an unknown code, and a code of another status or family',
    says: [/no task_gone of 404/, /no access_denied of 404/, /no path_not_found of 404 in family native/],
    document: withErrorExamples('native', {
      unknown: { value: { error: { code: 'task_gone' } } },
      otherStatus: { value: { error: { code: 'access_denied' } } },
      otherFamily: { value: { error: { code: 'path_not_found' } } },
    }),
  },
  {
    rule: 'body-limit',
    name: 'takes a body with limits, and none without',
    says: [],
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
      [{ requestBody: jsonBody(json), 'x-body-limit-mb': 2, 'x-text-limit-mb': 2 }, /below x-body-limit-mb/],
      [{ 'x-body-limit-mb': 1 }, /must have no limit/],
    ] as const
  ).map(([operation, says], index) => ({
    rule: 'body-limit',
    name: `refuses a missing, senseless or idle limit ${index}`,
    says: [says],
    document: openapi({ operationId: 'createThing', responses: ok, ...operation }),
  })),
  {
    rule: 'request-bounded',
    name: 'takes lists and integers with bounds, in bodies and parameters',
    says: [],
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
        // Only restated.
        if: { properties: { list: { type: 'array', minItems: 1 }, whole: { type: 'integer', minimum: 0 } } },
      }),
      responses: ok,
    }),
  },
  {
    rule: 'request-bounded',
    name: 'refuses a list without maxItems and an integer without a bound, also behind a $ref',
    says: [
      /An integer in a request must have a minimum/,
      /An integer in a request must have a maximum/,
      /A list in a request must have maxItems/,
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
    name: 'asks nothing of answers',
    says: [],
    document: withBody('application/json', { schema: { type: 'array', items: { type: 'integer' } } }),
  },
  {
    rule: 'field-described',
    name: 'takes a description beside the type or behind a $ref',
    says: [],
    document: withSchema({ properties: { a: json, b: { $ref: 'errors/GenericError.yaml' } } }),
  },
  {
    rule: 'field-described',
    name: 'refuses a bare property',
    says: [/Property a must/],
    document: withSchema({ properties: { a: { type: 'string' } } }),
  },
  {
    rule: 'field-described',
    name: 'refuses a bare parameter',
    says: [/Parameter q must/],
    document: openapi({
      operationId: 'getThing',
      parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }],
      responses: ok,
    }),
  },
  {
    rule: 'field-described',
    name: 'asks nothing of the branches of a conditional',
    says: [],
    document: withSchema({ properties: { a: json }, if: { properties: { a: { required: ['b'] } } } }),
  },
  {
    rule: 'field-described',
    name: 'asks nothing of a branch that restates a field',
    says: [],
    document: withSchema({ properties: { a: json }, anyOf: [{ properties: { a: { minProperties: 1 } } }] }),
  },
  {
    rule: 'field-described',
    name: 'refuses a bare field of a branch that the parent lacks',
    says: [/Property b must/],
    document: withSchema({ properties: { a: json }, anyOf: [{ properties: { b: { type: 'string' } } }] }),
  },
  {
    rule: 'field-described',
    name: 'refuses a bare item of a list, and a bare field of one',
    says: [/items of a list must/, /Property a must/, /items of a list must/],
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
    name: 'takes items that are described, or only limited',
    says: [],
    document: withSchema({
      type: 'array',
      items: { $ref: 'errors/GenericError.yaml' },
      if: { type: 'array', items: { type: 'object' } },
    }),
  },
  {
    rule: 'field-described',
    name: 'reads event payloads too',
    says: [/Property a must/],
    document: events({ type: 'object', properties: { a: { type: 'string' } } }),
  },
  {
    rule: 'request-bounded',
    name: 'asks nothing more of what narrows a bounded list',
    says: [],
    document: openapi({
      operationId: 'getThing',
      requestBody: jsonBody({ ...list, maxItems: 3, allOf: [{ ...list, contains: json, maxContains: 1 }] }),
      responses: ok,
    }),
  },
  {
    rule: 'schema-typed',
    name: 'takes types, unions of types, and conditionals without one',
    says: [],
    document: withSchema({
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'string' } },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
        either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        nothing: { type: 'object', maxProperties: 0 },
      },
      anyOf: [{ ...json, additionalProperties: true, required: ['list'] }, { const: 'x' }],
      allOf: [{ if: { required: ['list'] } }],
    }),
  },
  {
    rule: 'schema-typed',
    name: 'refuses an object that names no fields and says nothing of others',
    says: [/must say additionalProperties/],
    document: withSchema({
      anyOf: [
        { type: 'object', required: ['a'] },
        { type: 'object', required: ['b'], additionalProperties: true },
      ],
    }),
  },
  {
    rule: 'schema-typed',
    name: 'refuses a schema that only limits, alone or in a union, and a list without items',
    says: [/must say its type/, /must say its type/, /must say what its items are/],
    document: withSchema({
      type: 'object',
      properties: { limits: { allOf: [{ if: json }] }, list: { type: 'array', contains: json } },
      anyOf: [{ type: 'object', additionalProperties: true }, { required: ['list'] }],
    }),
  },
  {
    rule: 'schema-title',
    name: 'takes a file whose title is its name, and any title inside a file',
    says: [],
    document: withSchema({
      type: 'object',
      properties: { own: { title: 'Other', type: 'string' }, file: { $ref: 'Titled.yaml' } },
    }),
  },
  {
    rule: 'schema-title',
    name: 'refuses a file with another title or none',
    says: [/must be its name, GenericError/],
    document: withSchema({ type: 'object', properties: { file: { $ref: 'errors/GenericError.yaml' } } }),
  },
  {
    rule: 'reply-suffix',
    name: 'takes a reply, a thing itself, and a body without a name',
    says: [],
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
    name: 'refuses another name',
    says: [/ThingResponse answers getThing, so its name must end in Reply/],
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
    name: 'takes additionalProperties: true',
    says: [],
    document: withSchema({ type: 'object', additionalProperties: true }),
  },
  {
    rule: 'no-boolean-schema',
    name: 'refuses true in place of a schema',
    says: [/must be an object/, /must be an object/],
    document: withSchema({ properties: { a: true }, anyOf: [json, false] }),
  },
  {
    rule: 'no-boolean-schema',
    name: 'refuses a range of statuses',
    says: [/4XX is a range/],
    document: withBody('application/json', { schema: json }, '4XX'),
  },
  {
    name: 'takes a decision on the operation',
    says: [],
    ...withPlaces({ getThing: 'the body' }, { 'x-decision': 'Chosen so.' }),
  },
  {
    name: 'refuses an operation without one',
    says: [/getThing must carry x-decision: the interface leaves open the body/],
    at: ['openapi.yaml#/paths/~1things/get'],
    ...withPlaces({ getThing: 'the body' }, {}),
  },
  {
    name: 'refuses an empty decision',
    says: [/getThing must carry/],
    ...withPlaces({ getThing: 'the body' }, { 'x-decision': ' ' }),
  },
  {
    name: 'takes a decision on the named field of a file',
    says: [],
    ...withPlaces(
      { 'openapi.yaml#size': 'its values' },
      {},
      { properties: { size: { 'x-decision': 'Any.' } } },
    ),
  },
  {
    name: 'refuses a decision on another field',
    says: [/openapi\.yaml#size must carry/],
    at: ['openapi.yaml#/components/schemas/Thing/properties/size'],
    ...withPlaces(
      { 'openapi.yaml#size': 'its values' },
      {},
      { properties: { other: { 'x-decision': 'Any.' }, size: { type: 'string' } } },
    ),
  },
  {
    name: 'says in which file a decision is missing',
    says: [/errors\/GenericError\.yaml must carry/],
    at: ['errors/GenericError.yaml#/'],
    ...withPlaces(
      { 'errors/GenericError.yaml': 'its fields' },
      {},
      { properties: { error: { $ref: 'errors/GenericError.yaml' } } },
    ),
  },
  {
    name: 'tells of places that are no more',
    says: [
      /^Stale in open-places\.yaml: getOther is not/,
      /^Stale.*: openapi\.yaml#size is not/,
      /^Stale.*: Other\.yaml is not/,
    ],
    ...withPlaces(
      { getOther: 'the body', 'openapi.yaml#size': 'its values', 'Other.yaml': 'its fields' },
      {},
    ),
  },
  {
    rule: 'decision-names-protocol',
    name: 'takes a decision that names its protocol, or rests on none',
    says: [],
    document: withSchema({
      'x-decision': 'The range of the OpenAI Speech API; the ids are public.',
      properties: { a: { 'x-decision': 'The limit is ours.' } },
    }),
  },
  {
    rule: 'decision-names-protocol',
    name: 'refuses one that rests on a protocol without a name, also beside a $ref',
    says: [/in place of "public protocol"/, /in place of "public native protocol"/],
    document: withSchema({
      'x-decision': 'As in the public protocol.',
      properties: { a: { $ref: 'Titled.yaml', 'x-decision': 'Taken from the public native protocol.' } },
    }),
  },
  {
    rule: 'events-named',
    name: 'takes an event stream that names its channel, and no name beside other bodies',
    says: [],
    document: withBody('text/event-stream', { schema: json, 'x-events': 'asyncapi.json#/channels/things' }),
  },
  ...[undefined, '#/channels/things', 'asyncapi.json#/components/messages/Thing'].map((name) => ({
    rule: 'events-named',
    name: `refuses ${name} as the name of what a stream carries`,
    says: [/must say in x-events what it carries/],
    document: withBody('text/event-stream', { schema: json, 'x-events': name }),
  })),
  {
    rule: 'message-examples',
    name: 'takes an example that is what the schemas say',
    says: [],
    document: events({ $ref: 'Titled.yaml' }, { name: 'empty', payload: {} }),
  },
  {
    rule: 'message-examples',
    name: 'refuses another, at its value',
    says: [/The example must be object/, /The example at \/size must be >= 1/],
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
    name: 'names the files of examples and schemas',
    says: [/The example must be object/],
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
    name: 'refuses a file that nothing leads to',
    says: [/Nothing in openapi\.yaml leads to errors\/GenericError\.yaml/, /leads to parts\/examples\.yaml/],
    document: withSchema({ $ref: 'schemas/Thing.yaml' }),
  },
  {
    rule: 'no-orphan-file',
    name: 'takes files that are part of the spec, lists too',
    says: [],
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
    name: 'takes answers with the header, a handshake, and the answers of callbacks without it',
    says: [],
    document: openapi({
      operationId: 'getThing',
      responses: { '101': { description: 'x' }, '200': { description: 'x', headers: requestId } },
      callbacks: { done: { '{$request.query.url}': { post: { responses: ok } } } },
    }),
  },
  {
    rule: 'request-id-header',
    name: 'refuses a success or an error without it',
    says: [/200 of getThing must have the header/, /404 of getThing must have the header/],
    document: openapi({
      operationId: 'getThing',
      responses: { ...ok, '404': { description: 'x', headers: { other: requestId['x-request-id'] } } },
    }),
  },
  {
    rule: 'standard-errors',
    name: 'takes what each kind of call can end with',
    says: [],
    document: withStatuses([200, 401, 429, 500, 503]),
  },
  {
    rule: 'standard-errors',
    name: 'asks less without a key',
    says: [],
    document: withStatuses([200, 500], { security: [] }),
  },
  {
    rule: 'standard-errors',
    name: 'refuses an operation that lacks some',
    says: [/getThing must document 401, 503/],
    document: withStatuses([200, 429, 500]),
  },
  {
    rule: 'standard-errors',
    name: 'asks more of parameters and bodies',
    says: [/getThing must document 400, 413, 415/],
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

// One run of the linter over all fixtures, each an API with its one rule, instead of a process a fixture.
beforeAll(() => {
  const apis = fixtures.map(({ rule, document, options }, index) => {
    write(`f${index}/openapi.yaml`, document);
    write(`f${index}/errors/GenericError.yaml`, json);
    write(`f${index}/schemas/Thing.yaml`, json);
    write(`f${index}/parts/examples.yaml`, [{ payload: 1 }]);
    write(`f${index}/Titled.yaml`, { ...json, title: 'Titled' });
    const rules = { [`house/${rule}`]: { severity: 'error', ...options } };
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
    // Exit status 1 is what a lint with problems gives.
    text = (error as { stdout: string }).stdout;
  }
  const reports = JSON.parse(`[${text.trim().replace(/^\}\{$/gm, '},{')}]`) as { problems: Problem[] }[];
  expect(reports).toHaveLength(fixtures.length);
  return reports.flatMap((report) => report.problems);
}

describe.each(fixtures.map((fixture, index) => ({ ...fixture, index })))(
  'house/$rule',
  ({ rule, name, says, at, index }) => {
    test(name, () => {
      const found = problems.filter((problem) => problem.location[0]?.source.ref.startsWith(`f${index}/`));
      for (const { ruleId } of found) expect(ruleId).toBe(`house/${rule}`);
      const messages = found.map(({ message }) => message);
      expect(messages).toEqual(says.map((pattern) => expect.stringMatching(pattern)));
      const places = found.map(
        ({ location: [place] }) => `${place?.source.ref.replace(`f${index}/`, '')}${place?.pointer}`,
      );
      if (at) expect(places).toEqual(at);
    });
  },
);
