import { expect, test } from 'vitest';
import { describeChanges } from '../../../openapi/dev/describe-changes.ts';
import type { Sources } from '../../../openapi/tools/outputs.ts';

const before: Sources = {
  openapi: {
    info: { title: 'A' },
    paths: {
      '/songs': {
        get: {
          operationId: 'listSongs',
          parameters: [{ name: 'page', in: 'query' }],
          responses: { 200: { description: 'All.' } },
        },
      },
      '/v1/songs': { get: { operationId: 'listSongsV1', 'x-alias-of': 'listSongs' } },
    },
    components: { schemas: { Song: { type: 'object' }, Old: { type: 'string' } } },
  },
  asyncapi: {
    channels: { songs: { address: '/songs' } },
    components: { schemas: { Song: { type: 'object' } }, messages: { sung: { summary: 'It was sung.' } } },
  },
  errors: [
    { code: 'bad_thing', status: 400, families: ['generic'], when: 'Bad.', remedy: 'Mend.', retry: 'never' },
  ],
  models: {
    families: { plain: { owner: 'alpha', since: '2026-11-21' } },
    models: [{ id: 'alpha-1', family: 'plain', protocols: ['multimodal'], unit: 'characters' }],
    voice_sets: {},
  },
};

const edited = (edit: (copy: Sources) => void): string[] => {
  const copy = structuredClone(before);
  edit(copy);
  return describeChanges(before, copy);
};
/** Sets a value at a path of keys. */
const set = (value: object, path: string, to: unknown) => {
  const keys = path.split(' ');
  const last = keys.pop() ?? '';
  const parent = keys.reduce((node, key) => (node as Record<string, object>)[key] ?? {}, value);
  if (to === undefined) delete (parent as Record<string, unknown>)[last];
  else (parent as Record<string, unknown>)[last] = to;
};

test.each<[string, string, unknown, string]>([
  [
    'a field',
    'openapi paths /songs get responses 200 description',
    'Many.',
    'operation listSongs: responses.200.description "All." -> "Many."',
  ],
  [
    'a parameter',
    'openapi paths /songs get parameters 0 in',
    'header',
    'operation listSongs: parameters.page.in "query" -> "header"',
  ],
  [
    'a shared schema, once',
    'openapi components schemas Song',
    { type: 'object', title: 'Song' },
    'schema Song: title added ("Song")',
  ],
  ['a removed schema', 'openapi components schemas Old', undefined, 'schema Old was removed'],
  ['an event', 'asyncapi components messages sung summary', undefined, 'event sung: summary removed'],
  ['a channel', 'asyncapi channels spoken', { address: '/spoken' }, 'channel spoken is new'],
  ['an error code', 'errors 0 retry', 'later', 'error bad_thing 400: retry "never" -> "later"'],
  ['a model', 'models models 0 unit', 'seconds', 'model alpha-1: unit "characters" -> "seconds"'],
  ['the root', 'openapi info title', 'B', 'root of the OpenAPI document: info.title "A" -> "B"'],
])('%s', (_, path, to, line) => {
  const lines = edited((copy) => set(copy, path, to));
  // The second document still has the previous shared schema.
  expect(lines[0]).toBe(line);
});

test('an unchanged contract has no changes', () => {
  expect(edited(() => undefined)).toEqual([]);
});

test('of many places, four are listed and the others counted', () => {
  const many = Object.fromEntries('abcdef'.split('').map((name) => [name, { type: 'string' }]));
  const [line] = edited((copy) => set(copy, 'openapi components schemas Old', { type: 'string', ...many }));
  expect(line).toBe('schema Old: a added; b added; c added; d added; 2 more places');
});
