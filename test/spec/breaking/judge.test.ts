import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { approve } from '../../../openapi/tools/breaking/approvals.ts';
import { areaFinder } from '../../../openapi/tools/breaking/areas.ts';
import type { Change } from '../../../openapi/tools/breaking/change.ts';
import type { Contract } from '../../../openapi/tools/breaking/contract.ts';
import { judge } from '../../../openapi/tools/breaking/judge.ts';
import { sourceFinder } from '../../../openapi/tools/breaking/source-files.ts';
import { isObject, type JsonObject, objects, operationsOf } from '../../../openapi/tools/document.ts';
import { readErrors } from '../../../openapi/tools/errors.ts';

const root = join(import.meta.dirname, '../../..');
const text = (name: string) => readFile(join(root, name), 'utf8');
const contract: Contract = {
  openapi: JSON.parse(await text('generated/openapi.json')) as JsonObject,
  asyncapi: JSON.parse(await text('generated/asyncapi.json')) as JsonObject,
  errors: readErrors(await text('openapi/errors.yaml')),
};

/** A node at a path of keys, which must exist. */
function at(document: JsonObject, ...keys: string[]): JsonObject {
  let node: JsonObject = document;
  for (const key of keys) {
    const child = node[key];
    if (!isObject(child) && !Array.isArray(child)) throw new Error(`${keys.join(' ')} does not exist`);
    node = child as JsonObject;
  }
  return node;
}

/** The changes that an edit of the contract causes. */
async function changesOf(edit: (next: Contract) => void, base = contract): Promise<Change[]> {
  const next = structuredClone(base);
  edit(next);
  return (await judge(base, next)).changes;
}

const both = ({ openapi, asyncapi }: Contract) => [openapi, asyncapi];

test('a contract without differences has no changes', async () => {
  expect(await judge(contract, structuredClone(contract))).toEqual({ differences: 0, changes: [] });
});

test('a field that both documents share is reported once, with the operations of both', async () => {
  const changes = await changesOf((next) => {
    for (const document of both(next))
      delete at(document, 'components', 'schemas', 'MusicTask', 'properties').data;
  });
  expect(changes).toEqual([
    expect.objectContaining({
      at: '#/components/schemas/MusicTask/properties/data',
      change: 'Property `data` of `MusicTask` was removed.',
      operations: expect.arrayContaining(['fetchMusicTask', 'sendMusicTaskCallback', 'submitMusic']),
    }),
  ]);
});

test('a change of an operation with copies is reported once, at the original', async () => {
  const changes = await changesOf(({ openapi }) => {
    for (const { id, node, aliasOf } of operationsOf(openapi))
      if ((aliasOf ?? id) === 'submitMusic') delete (node.responses as JsonObject)['400'];
  });
  expect(changes.map(({ at, change, operations }) => [at, change, operations])).toEqual([
    ['#/paths/~1sigma~1submit~1music/post/responses/400', 'Response `400` was removed.', ['submitMusic']],
  ]);
});

test('a removed copy is reported at its own path', async () => {
  const copies = operationsOf(contract.openapi).filter(({ aliasOf }) => aliasOf === 'submitMusic');
  const [copy] = copies.map(({ path }) => path);
  const changes = await changesOf(({ openapi }) => delete at(openapi, 'paths')[copy ?? '']);
  expect(changes.map(({ change }) => change)).toEqual([`Path \`${copy}\` was removed.`]);
});

test('a change of a callback that several operations share is reported once', async () => {
  const changes = await changesOf(({ openapi }) => {
    for (const { node } of operationsOf(openapi))
      for (const [name, callback] of objects(node.callbacks))
        for (const [, item] of objects(callback))
          if (name.startsWith('musicTask')) (at(item, 'post', 'parameters') as unknown as unknown[]).shift();
  });
  expect(changes.map(({ at, change, operations }) => [at, change, operations])).toEqual([
    [
      '#/callbacks/musicTask/parameters/webhook-id',
      'Header `webhook-id` was removed.',
      ['createMusic', 'submitLyrics', 'submitMusic'],
    ],
  ]);
});

test('a removed required response field is reported once', async () => {
  const changes = await changesOf(({ openapi }) => {
    const schema = at(openapi, 'components', 'schemas', 'EmbeddingListReply');
    delete at(schema, 'properties').data;
    schema.required = (schema.required as string[]).filter((name) => name !== 'data');
  });
  expect(changes.map(({ rule }) => rule)).toEqual(['property-removed']);
});

test('a renamed path parameter is reported', async () => {
  const changes = await changesOf(({ openapi }) => {
    const paths = at(openapi, 'paths');
    const item = paths['/api/assets/{id}'];
    delete paths['/api/assets/{id}'];
    paths['/api/assets/{asset}'] = item ?? null;
  });
  expect(changes.map(({ rule, change }) => [rule, change])).toEqual([
    ['path-parameter-renamed', 'Path parameter `id` is now `asset`.'],
  ]);
});

test('an alternative of a union keeps its address when another one is inserted before it', async () => {
  const remove = async (inserted: boolean) => {
    const base = structuredClone(contract);
    const union = (of: Contract) =>
      at(
        of.openapi,
        'components',
        'schemas',
        'VoiceCustomizationRequest',
        'oneOf',
      ) as unknown as JsonObject[];
    if (inserted) union(base).unshift({ $ref: '#/components/schemas/SpeechRequest' });
    const changes = await changesOf((next) => union(next).splice(inserted ? 1 : 0, 1), base);
    return changes.map(({ at, change }) => ({ at, change }));
  };
  const expected = {
    at: '#/components/schemas/VoiceCustomizationRequest/oneOf/VoiceEnrollmentRequest',
    change: '`oneOf` subschema `VoiceEnrollmentRequest` of `VoiceCustomizationRequest` was removed.',
  };
  expect(await remove(false)).toEqual([expected]);
  expect(await remove(true)).toEqual([expected]);
});

test('a parameter has its name in its address', async () => {
  const changes = await changesOf(({ openapi }) => {
    const parameters = at(
      openapi,
      'paths',
      '/api/log/search',
      'get',
      'parameters',
    ) as unknown as JsonObject[];
    parameters.pop();
  });
  expect(changes[0]?.at).toMatch(/^#\/paths\/~1api~1log~1search\/get\/parameters\/[A-Za-z]+(:\w+)?$/);
});

test.each([
  ['never', 'later', 'minor'],
  ['later', 'now', 'minor'],
  ['now', 'later', 'major'],
  ['later', 'never', 'major'],
] as const)('retry advice that changes from %s to %s is %s', async (before, after, severity) => {
  const entry = { code: 'test_code', status: 500, families: ['generic'], when: 'A.', remedy: 'B.' };
  const base = { ...contract, errors: [{ ...entry, retry: before }] };
  const { changes } = await judge(base, { ...contract, errors: [{ ...entry, retry: after }] });
  expect(changes).toEqual([
    {
      document: 'errors',
      rule: 'error-retry-changed',
      severity,
      at: 'test_code',
      change: `The retry advice of test_code with status 500 was "${before}" and is now "${after}".`,
      operations: expect.arrayContaining(['createEmbedding']),
    },
  ]);
});

test.each<[string, (next: Contract) => void, Partial<Change>, string]>([
  [
    'a new field',
    ({ openapi }) => {
      at(openapi, 'components', 'schemas', 'SpeechRequest', 'properties').pitch = { type: 'number' };
    },
    {
      severity: 'minor',
      change: 'Field `pitch` of `SpeechRequest` was added.',
      operations: ['createSpeech'],
    },
    'speech',
  ],
  [
    'a raised limit',
    ({ openapi }) => {
      at(openapi, 'components', 'schemas', 'SpeechRequest', 'properties', 'speed').maximum = 9;
    },
    { severity: 'minor', operations: ['createSpeech'] },
    'speech',
  ],
  [
    'a new description',
    ({ openapi }) => {
      at(openapi, 'paths', '/v1/models', 'get').description = 'Other.';
    },
    {
      severity: 'patch',
      change: 'The documentation of `GET /v1/models` changed.',
      operations: ['listModels'],
    },
    'models',
  ],
  [
    'a renamed stream event',
    ({ asyncapi }) => {
      at(asyncapi, 'components', 'messages', 'MessageStartEvent').name = 'begin';
    },
    { severity: 'major', rule: 'event-renamed', operations: ['createMessage'] },
    'messages',
  ],
])('%s has words, a severity, operations and an area', async (_, edit, expected, area) => {
  const changes = await changesOf(edit);
  expect(changes).toEqual([expect.objectContaining(expected)]);
  const [change] = changes;
  expect(change && areaFinder([contract])(change)).toBe(area);
});

test('a change is found at its line', async () => {
  const [change] = await changesOf(({ openapi }) => {
    at(openapi, 'components', 'schemas', 'SpeechRequest', 'properties', 'input').maxLength = 1;
  });
  const { file, line } = change === undefined ? {} : sourceFinder(root, [contract.openapi])(change);
  expect(file).toBe('openapi/schemas/speech/SpeechRequest.yaml');
  expect((await text(file ?? '')).split('\n')[(line ?? 0) - 1]).toMatch(/^ +(input|maxLength):/);
});

describe('the removal of a deprecated place', () => {
  const sunset = { since: '2026-01-01', date: '2027-01-31', replacement: 'Use another one.' };
  const base = structuredClone(contract);
  const announced = { deprecated: true, 'x-sunset': sunset };
  const path = '/api/assets/{id}';
  const operation = at(base.openapi, 'paths', path, 'get');
  Object.assign(operation, announced);
  const field = ['components', 'schemas', 'Token', 'properties'] as const;
  Object.assign(at(base.openapi, ...field, 'name'), announced);
  const parameters = at(base.openapi, 'paths', '/api/log/search', 'get').parameters as JsonObject[];
  Object.assign(parameters.find(({ name }) => name === 'end') ?? {}, announced);

  const removals: Record<string, (next: JsonObject) => unknown> = {
    path: (next) => delete at(next, 'paths')[path],
    operation: (next) => delete at(next, 'paths', path).get,
    field: (next) => delete at(next, ...field).name,
    parameter: (next) => {
      const search = at(next, 'paths', '/api/log/search', 'get');
      search.parameters = parameters.filter(({ name }) => name !== 'end');
    },
  };
  const removed = async (kind: string, day: string, from = base) => {
    const next = structuredClone(from);
    removals[kind]?.(next.openapi);
    const { changes } = await judge(from, next, Date.parse(day));
    return changes.filter(({ severity }) => severity === 'major');
  };

  test.each(Object.keys(removals))(
    'is refused on the sunset date, also with an approval: %s',
    async (kind) => {
      const changes = await removed(kind, '2027-01-31T23:59:59Z');
      expect(changes).toHaveLength(1);
      expect(changes[0]?.change).toMatch(/removed\. It may be removed after its sunset date 2027-01-31\.$/);
      const approvals = changes.map((one) => ({ at: one.at, change: one.change, reason: 'Nobody uses it.' }));
      expect(approve(changes, approvals)).toEqual({ unapproved: changes, approved: [], unused: [] });
    },
  );

  test.each(Object.keys(removals))('is approved after the sunset date: %s', async (kind) => {
    const changes = await removed(kind, '2027-02-01T00:00:00Z');
    expect(changes).toHaveLength(1);
    expect(approve(changes, [])).toEqual({
      unapproved: [],
      approved: [{ ...changes[0], reason: 'Its sunset date 2027-01-31 is over.' }],
      unused: [],
    });
    const approval = { at: changes[0]?.at ?? '', change: changes[0]?.change ?? '', reason: 'No calls.' };
    expect(approve(changes, [approval])).toMatchObject({ approved: [{ reason: 'No calls.' }], unused: [] });
  });

  test.each([
    [
      '2027-01-30',
      'major',
      'The sunset date was 2027-01-31 and is now 2027-01-30, so clients have less time to change.',
    ],
    [
      '2027-02-01',
      'minor',
      'The sunset date of operation `GET /api/assets/{id}` is now 2027-02-01, was 2027-01-31.',
    ],
  ])('can be moved to %s: %s', async (date, severity, change) => {
    const next = structuredClone(base);
    at(next.openapi, 'paths', path, 'get')['x-sunset'] = { ...sunset, date };
    const { changes } = await judge(base, next);
    expect(changes).toMatchObject([{ severity, change, operations: ['getAsset'] }]);
  });

  test('can be moved for a callback', async () => {
    const [from, next] = ['2027-01-31', '2027-01-30'].map((date) => {
      const changed = structuredClone(contract);
      const callbacks = at(changed.openapi, 'paths', '/imgjob/submit/imagine', 'post', 'callbacks');
      for (const item of Object.values(at(callbacks, 'imageJob')))
        Object.assign(at(item as JsonObject, 'post'), { deprecated: true, 'x-sunset': { ...sunset, date } });
      return changed;
    });
    if (from === undefined || next === undefined) throw new Error('two contracts');
    expect((await judge(from, next)).changes).toMatchObject([
      { severity: 'major', rule: 'sunset-moved-earlier' },
    ]);
  });

  test('needs an approval without x-sunset, and if one operation of a path has none', async () => {
    const mixed = structuredClone(base);
    const item = at(mixed.openapi, 'paths', path);
    item.patch = { ...structuredClone(operation), operationId: 'patchAsset', 'x-sunset': undefined as never };
    const day = '2027-02-01T00:00:00Z';
    for (const changes of [await removed('path', day, mixed), await removed('path', day, contract)]) {
      expect(changes).not.toEqual([]);
      expect(approve(changes, []).approved).toEqual([]);
    }
  });
});
