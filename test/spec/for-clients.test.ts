import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import { downConvert } from '../../openapi/tools/down-convert.ts';
import { forClients } from '../../openapi/tools/for-clients.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const string = { type: 'string' };

/** A document whose only operation has a body of the schema `Song`. */
const withSchemas = (schemas: JsonObject): JsonObject => ({
  openapi: '3.1.0',
  info: { title: 'Fixture', version: '1' },
  paths: {
    '/songs': {
      post: {
        operationId: 'createSong',
        requestBody: { content: { 'application/json': { schema: ref('Song') } } },
        responses: {
          '200': { description: 'ok', headers: { 'x-kind': { schema: { type: 'string', const: 'song' } } } },
        },
      },
    },
  },
  components: { schemas },
});
const converted = (schemas: JsonObject) => forClients(withSchemas(schemas)).components;

test('removes conditions and the schemas that only they use', () => {
  const song = { type: 'object', properties: { title: string, kind: string } };
  const short = { type: 'object', properties: { title: { type: 'string', maxLength: 9 } } };
  const schemas = {
    Song: {
      ...song,
      if: { required: ['kind'] },
      then: ref('Short'),
      else: { required: ['title'] },
      dependentRequired: { kind: ['title'] },
    },
    Short: short,
  };
  expect(converted(schemas)).toEqual({ schemas: { Song: song } });
});

test('removes parts of an allOf that only limit fields of the others', () => {
  const fields = { type: 'object', properties: { model: string, title: string } };
  const limits = {
    type: 'object',
    properties: { model: string },
    allOf: [{ if: { required: ['title'] }, else: { required: ['model'] } }],
  };
  const source = { type: 'object', anyOf: [{ required: ['model'] }, { required: ['title'] }] };
  const parts = [ref('Fields'), ref('Limits'), ref('Source'), { if: { required: ['model'] } }];
  expect(converted({ Song: { allOf: parts }, Fields: fields, Limits: limits, Source: source })).toEqual({
    schemas: { Song: { allOf: [ref('Fields')] }, Fields: fields },
  });
});

test('retains parts of an allOf that add fields, required fields or values', () => {
  const first = { type: 'object', properties: { first: string } };
  const second = { type: 'object', required: ['own'] };
  const third = { type: 'object', properties: { own: { type: 'string', const: 'x' } } };
  const fourth = { anyOf: [{ type: 'object', properties: { other: string } }] };
  const condition = { if: { required: ['own'] } };
  const parts = [{ ...first, ...condition }, { ...second, ...condition }, third, fourth];
  expect(converted({ Song: { allOf: parts } })).toEqual({
    schemas: { Song: { allOf: [first, second, third, fourth] } },
  });
});

test('retains only JSON of the media types of a request body', () => {
  const json = { 'application/json': { schema: string } };
  const form = { 'multipart/form-data': { schema: string } };
  const document: JsonObject = {
    ...withSchemas({}),
    paths: {
      '/both': { post: { requestBody: { content: { ...form, ...json } } } },
      '/form': { post: { requestBody: { content: form } } },
    },
  };
  expect(forClients(document).paths).toEqual({
    '/both': { post: { requestBody: { content: json } } },
    '/form': { post: { requestBody: { content: form } } },
  });
});

test('retains fields, examples and unions that have the name of a condition or of branches', () => {
  const song = {
    type: 'object',
    properties: { if: string, not: string, kind: { anyOf: [string, { type: 'null' }] } },
    examples: [{ if: 'x', allOf: [] }],
    oneOf: [{ type: 'object', properties: { other: string } }, ref('Fields')],
  };
  const fields = { type: 'object', properties: { kind: string } };
  expect(converted({ Song: song, Fields: fields })).toEqual({ schemas: { Song: song, Fields: fields } });
});

test('the 3.0 copy has enum instead of const, also in a header named x-', () => {
  const document = downConvert(withSchemas({ Song: { type: 'object', properties: { a: string } } }));
  const at = ['/songs', 'post', 'responses', '200', 'headers', 'x-kind', 'schema'];
  const found = at.reduce<Json>(
    (node, key) => (isObject(node) ? (node[key] ?? null) : null),
    document.paths ?? null,
  );
  expect(found).toEqual({ type: 'string', enum: ['song'] });
});

test('the 3.0 copy declares a field once in the parts of a schema, unless its type is narrower', () => {
  const fields = { type: 'object', properties: { a: string, b: string } };
  const narrow = { type: 'string', enum: ['x'] };
  const song = (own: JsonObject) => ({
    type: 'object',
    allOf: [ref('Fields')],
    required: ['a'],
    properties: own,
  });
  const schemas = {
    Fields: fields,
    Song: song({ a: { type: 'string', minLength: 1 }, b: narrow, c: string }),
  };
  const document = downConvert(withSchemas(schemas));
  expect(document.components).toEqual({ schemas: { Fields: fields, Song: song({ b: narrow, c: string }) } });
});

test('the generated document for clients has no condition', async () => {
  const file = join(import.meta.dirname, '../../generated/openapi-clients.json');
  const document = JSON.parse(await readFile(file, 'utf8')) as JsonObject;
  const names = /\/(if|then|else|contains|dependentRequired)$/;
  const found: string[] = [];
  const visit = (node: Json, path: string): void => {
    if (names.test(path) && !path.includes('/properties/')) found.push(path);
    if (Array.isArray(node)) node.forEach((item, index) => visit(item, `${path}/${index}`));
    if (!isObject(node)) return;
    for (const [key, value] of Object.entries(node)) {
      if (key !== 'example' && key !== 'examples') visit(value, `${path}/${key}`);
    }
  };
  visit(document, '');
  expect(found).toEqual([]);
});
