import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { catalogueSource, readModels } from '../../openapi/tools/catalogue.ts';
import { operationsOf } from '../../openapi/tools/document.ts';
import { downConvert } from '../../openapi/tools/down-convert.ts';
import { drifted, settle } from '../../openapi/tools/drift.ts';
import { readErrors } from '../../openapi/tools/errors.ts';
import { eventValidatorsSource } from '../../openapi/tools/event-validators.ts';
import { eventsOf } from '../../openapi/tools/events.ts';
import { outputs } from '../../openapi/tools/outputs.ts';

// A run of the generator is a second or two of work in child processes.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const repository = fileURLToPath(new URL('../..', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'generate-'));

const write = (path: string, content: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
};

const models = `
families:
  tiny: { owner: alpha, since: 2026-11-21, voice_set: plain, max_characters: 600 }
  plain: { owner: beta, since: 2026-11-21 }
models:
  - { id: beta/tiny-1, family: tiny, protocols: [multimodal], unit: characters, voices: system }
voice_sets:
  plain: [{ id: Aria, name: Aria, gender: female, languages: [en], description: Even. }]
`;

const errors = `
- { code: bad_thing, status: 400, families: [generic, realtime], when: It is bad., remedy: Mend it., retry: never }
- { code: no_thing, status: 404, families: [generic], when: It is gone., remedy: Go., retry: never }
- { code: no_thing, status: [502, 504], families: [generic], when: It is away., remedy: Wait., retry: now }
- { code: thing_lost, families: [task], when: It is lost., remedy: Make another | one., retry: later }
`;

const song = `
type: object
description: A song.
required: [title]
properties:
  title: { type: [string, 'null'], minLength: 1, description: The title., x-decision: A song may have no title. }
  kind: { type: string, const: song, description: Always song., examples: [song] }
`;

beforeAll(() => {
  write(
    'redocly.yaml',
    `
telemetry: "off"
plugins: [${join(repository, 'openapi/rules/plugin.ts')}]
apis: { gateway: { root: openapi/openapi.yaml }, events: { root: asyncapi/asyncapi.yaml } }
rules: { unigate/operation-id-form: error }
decorators: { unigate/expand-prefixes: on, unigate/describe-sunset: on }
`,
  );
  write('openapi/models.yaml', models);
  write('openapi/errors.yaml', errors);
  write('openapi/schemas/music/Song.yaml', song);
  write(
    'openapi/openapi.yaml',
    `
openapi: 3.1.0
info: { title: Fixture, version: '1', license: { name: MIT, identifier: MIT } }
tags: [{ name: music }]
security: [{ bearerAuth: [] }]
paths:
  /sigma/submit/{id}: { $ref: paths/submit.yaml }
  /sigma/other: { get: { operationId: getOther, deprecated: true, x-sunset: { since: '2026-11-01', date: '2027-05-31', replacement: Use submitMusic. }, tags: [music], x-extension: true, security: [], summary: Other., responses: { '204': { description: none } } } }
components: { securitySchemes: { bearerAuth: { type: http, scheme: bearer } } }
`,
  );
  write(
    'openapi/paths/submit.yaml',
    `
x-prefixes: { '': /sigma, V1: /sigma/v1, V1Mv35: /sigma/v1/mv-3.5 }
post:
  operationId: submitMusic
  tags: [music]
  summary: Submit.
  x-error-family: generic
  x-decision: The body is the public one.
  x-body-limit-mb: 2
  x-text-limit-mb: 1
  requestBody: { content: { application/json: { schema: { $ref: ../schemas/music/Song.yaml } } } }
  responses:
    '200': { description: ok, content: { application/json: { schema: { $ref: ../schemas/music/Song.yaml } } } }
    '400': { description: bad }
`,
  );
  write(
    'asyncapi/asyncapi.yaml',
    `
asyncapi: 3.0.0
info: { title: Fixture, version: '1' }
defaultContentType: application/json
channels:
  duplex:
    address: /duplex
    messages:
      runTask: { $ref: '#/components/messages/runTask' }
      finishTask: { $ref: '#/components/messages/finishTask' }
      taskDone: { $ref: '#/components/messages/taskDone' }
      audioFrame: { $ref: '#/components/messages/audioFrame' }
operations:
  receiveDuplex:
    action: receive
    channel: { $ref: '#/channels/duplex' }
    messages: [{ $ref: '#/channels/duplex/messages/runTask' }, { $ref: '#/channels/duplex/messages/finishTask' }]
  sendDuplex:
    action: send
    channel: { $ref: '#/channels/duplex' }
    messages: [{ $ref: '#/channels/duplex/messages/taskDone' }, { $ref: '#/channels/duplex/messages/audioFrame' }]
components:
  messages:
    runTask: { payload: { $ref: schemas/duplex/RunTask.yaml } }
    finishTask: { payload: { $ref: schemas/duplex/FinishTask.yaml } }
    taskDone: { payload: { $ref: ../openapi/schemas/music/Song.yaml } }
    audioFrame: { contentType: application/octet-stream, payload: { type: string, format: binary } }
`,
  );
  const event = (action: string, more: string) => `
type: object
required: [header]
properties:
  header:
    type: object
    required: [action]
    properties:
      action: { type: string, const: ${action} }
  title: { type: string, maxLength: 5, format: date }
${more}`;
  write(
    'asyncapi/schemas/duplex/RunTask.yaml',
    event('run-task', '  song: { $ref: ../../../openapi/schemas/music/Song.yaml }'),
  );
  write('asyncapi/schemas/duplex/FinishTask.yaml', event('finish-task', ''));
  // The generated validators look for their runtime where a package of this repository would.
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
});

afterAll(() => rmSync(root, { recursive: true }));

const generator = join(repository, 'openapi/tools/generate.ts');
const check = () => spawnSync(process.execPath, [generator, '--check', '--root', root], { encoding: 'utf8' });

describe('the generated files', () => {
  let files: Map<string, string>;
  beforeAll(async () => {
    files = await outputs(root);
    await settle(join(root, 'generated'), files);
  });
  const file = (name: string) => files.get(name) ?? '';

  test('are deterministic', async () => {
    expect(await outputs(root)).toEqual(files);
  });

  test('pass the check if unchanged; the check names each changed file', async () => {
    expect(check()).toMatchObject({ status: 0, stderr: '' });
    write('generated/http.ts', `${file('http.ts')} `);
    write('generated/stray.ts', '');
    rmSync(join(root, 'generated/decisions.md'));
    const { status, stderr } = check();
    expect(status).toBe(1);
    expect(stderr.match(/generated\/\S+/g)).toEqual([
      'generated/decisions.md',
      'generated/http.ts',
      'generated/stray.ts',
    ]);
    const folder = join(root, 'generated');
    expect(await settle(folder, files)).toEqual(['decisions.md', 'http.ts', 'stray.ts']);
    expect(await drifted(folder, files)).toEqual([]);
  });

  test('the check fails after a change of a spec', () => {
    write('openapi/models.yaml', models.replace('600', '700'));
    expect(check()).toMatchObject({ status: 1, stderr: expect.stringContaining('generated/catalogue.ts') });
    write('openapi/models.yaml', models);
    expect(check().status).toBe(0);
  });

  test('a path is copied to each of its prefixes', () => {
    const operations = operationsOf(parse(file('openapi.json')));
    expect(operations.map(({ path, id, aliasOf }) => [path, id, aliasOf])).toEqual([
      ['/sigma/submit/{id}', 'submitMusic', undefined],
      ['/sigma/v1/submit/{id}', 'submitMusicV1', 'submitMusic'],
      ['/sigma/v1/mv-3.5/submit/{id}', 'submitMusicV1Mv35', 'submitMusic'],
      ['/sigma/other', 'getOther', undefined],
    ]);
    expect(operations.map(({ node }) => node.summary)).toEqual([
      'Submit.',
      'Submit. (prefix /sigma/v1)',
      'Submit. (prefix /sigma/v1/mv-3.5)',
      'Other.',
    ]);
    expect(file('openapi.json')).not.toContain('x-prefixes');
  });

  test('documents, types and the table of operations show a deprecation', () => {
    const description = '**Deprecated since 2026-11-01.** May be removed after 2027-05-31. Use submitMusic.';
    for (const name of ['openapi.json', 'openapi-clients.json', 'openapi-3.0.json']) {
      expect(parse(file(name)).paths['/sigma/other'].get).toMatchObject({ deprecated: true, description });
    }
    expect(file('http.ts').replaceAll(/\s*\*\s*/g, ' ')).toMatch(
      /@deprecated[^/]*May be removed after 2027-05-31/,
    );
    expect(file('operations.ts')).toMatch(/sunset: \{\s*since: '2026-11-01',\s*date: '2027-05-31',?\s*\}/);
  });

  test('the document for clients contains each operation once', () => {
    const paths = ['/sigma/submit/{id}', '/sigma/other'];
    const full = parse(file('openapi.json'));
    const forClients = parse(file('openapi-clients.json'));
    expect(Object.keys(forClients.paths)).toEqual(paths);
    expect(forClients).toEqual({
      ...full,
      paths: Object.fromEntries(paths.map((path) => [path, full.paths[path]])),
    });
    expect(Object.keys(parse(file('openapi-3.0.json')).paths)).toEqual(paths);
  });

  test('the operation table contains no copies', () => {
    expect(file('operations.ts')).toContain(
      "aliases: ['/sigma/v1/submit/{id}', '/sigma/v1/mv-3.5/submit/{id}']",
    );
    expect(file('operations.ts')).toMatch(/bodyLimitMb: 2,\s+textLimitMb: 1,/);
    expect(file('operations.ts')).not.toContain('submitMusicV1');
    expect(file('operations.ts')).toMatch(/getOther: \{.*extension: true,\s+security: 'none'/s);
  });

  test('event types have the names of messages and sides', () => {
    const types = file('events.ts');
    for (const name of [
      'RunTask',
      'FinishTask',
      'TaskDone',
      'Song',
      'DuplexClientEvent',
      'DuplexServerEvent',
    ]) {
      expect(types).toContain(`export type ${name} =`);
    }
    expect(types).not.toContain('AudioFrame');
  });

  test('the validators load in Node and distinguish events by their nested tag', () => {
    const script = `
      const { validateDuplexClientEvent: v, validateTaskDone } = await import('./generated/event-validators.js');
      const result = (data) => [v(data), v.errors?.[0].instancePath ?? null];
      console.log(JSON.stringify([
        result({ header: { action: 'run-task' }, song: { title: null } }),
        result({ header: { action: 'run-task' }, song: {} }),
        result({ header: { action: 'finish-task' }, title: 'too long' }),
        result({ header: { action: 'constructor' } }),
        result(null),
        [validateTaskDone({ title: 'x', kind: 'other' })],
      ]));`;
    const args = ['--input-type=module', '--eval', script];
    const printed = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual([
      [true, null],
      [false, '/song'],
      [false, '/title'],
      [false, '/header/action'],
      [false, '/header/action'],
      [false],
    ]);
  });

  test('each decision is listed once, under its area', () => {
    expect(file('decisions.md').match(/^\| `.*/gm)).toEqual([
      '| `submitMusic` | The body is the public one. |',
      '| `schemas/Song/properties/title` | A song may have no title. |',
      '| `getOther` | `GET /sigma/other` | Other. |',
    ]);
  });

  test('the errors are rendered as TypeScript and as Markdown', () => {
    const source = file('errors.ts');
    expect(source).toContain("readonly generic: 'bad_thing' | 'no_thing';");
    expect(source).toContain("readonly realtime: 'bad_thing';");
    expect(source).toContain('readonly no_thing: 404 | 502 | 504;');
    expect(source).toContain('readonly thing_lost: never;');
    expect(file('errors.md').match(/^\| `.*/gm)).toEqual([
      '| `bad_thing` | 400 | generic, realtime | It is bad. | Mend it. | never |',
      '| `no_thing` | 404 | generic | It is gone. | Go. | never |',
      '| `no_thing` | 502, 504 | generic | It is away. | Wait. | immediately |',
      '| `thing_lost` |  | task | It is lost. | Make another \\| one. | after a pause |',
    ]);
  });

  test('the 3.0 copy is equivalent', () => {
    const { openapi, info, components } = parse(file('openapi-3.0.json'));
    expect([openapi, info.license]).toEqual([
      '3.0.3',
      { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
    ]);
    expect(components.schemas.Song.properties).toMatchObject({
      title: { type: 'string', nullable: true },
      kind: { type: 'string', enum: ['song'], example: 'song' },
    });
    expect(components.schemas.Song.properties.kind).not.toHaveProperty('const');
  });
});

test('a spec that fails lint generates nothing', async () => {
  write(
    'openapi/paths/submit.yaml',
    'get: { operationId: makeMusic, responses: { "200": { description: ok } } }',
  );
  await expect(outputs(root)).rejects.toThrow(
    /openapi\/paths\/submit\.yaml:1:\d+ error unigate\/operation-id-form/,
  );
});

describe('down-conversion', () => {
  const convert = (schema: object) =>
    downConvert({
      openapi: '3.1.0',
      info: { type: 'object' },
      components: { schemas: { X: JSON.parse(JSON.stringify(schema)) } },
    }).components;

  test.each([
    ['numeric exclusive limits', { exclusiveMinimum: 0 }, { minimum: 0, exclusiveMinimum: true }],
    ['an exclusive maximum', { exclusiveMaximum: 9 }, { maximum: 9, exclusiveMaximum: true }],
    ['a type or null', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
    ['a constant', { const: 'x' }, { enum: ['x'] }],
    ['examples', { examples: [1, 2] }, { example: 1 }],
    ['several types', { type: ['string', 'integer'] }, { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
    ['a null branch', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'string', nullable: true }],
    ['a $ref or null', { oneOf: [{ $ref: '#/info' }, { type: 'null' }] }, { type: 'object', nullable: true }],
    ['kinds or null', { anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'null' }] }, {}],
    ['siblings of a $ref', { $ref: '#/a', description: 'x' }, { description: 'x', allOf: [{ $ref: '#/a' }] }],
    ['tuples', { type: 'array', prefixItems: [{}] }, { type: 'array', items: {} }],
    ['base64', { type: 'string', contentEncoding: 'base64' }, { type: 'string', format: 'byte' }],
    ['a lossy not', { type: 'array', items: {}, not: { contains: {} } }, { type: 'array', items: {} }],
    ['a lossy oneOf', { oneOf: [{ if: {} }, { type: 'object' }] }, { anyOf: [{}, { type: 'object' }] }],
    ['conditionals', { allOf: [{ if: {}, else: {} }], type: 'object' }, { type: 'object' }],
    [
      'a property named const',
      { properties: { const: { const: 1 } } },
      { properties: { const: { enum: [1] } } },
    ],
  ])('%s', (_, from, to) => {
    expect(convert(from)).toEqual({ schemas: { X: to } });
  });
});

describe('mistakes in the sources', () => {
  test.each([
    ['an unknown protocol', models.replace('[multimodal]', '[telepathy]'), /models\/0\/protocols\/0/],
    ['an unknown family', models.replace('family: tiny', 'family: huge'), /unknown family huge/],
    ['voices without a set', models.replace('family: tiny', 'family: plain'), /plain has no voice_set/],
    [
      'videos without a default resolution',
      models.replace('[multimodal]', '[official]'),
      /tiny has no default_resolution/,
    ],
    ['a family without a date', models.replace('since: 2026-11-21, ', ''), /families\/tiny.*'since'/],
    ['an unknown voice set', models.replace('voice_set: plain', 'voice_set: none'), /unknown voice set none/],
  ])('%s is reported', (_, text, message) => {
    expect(() => readModels(text)).toThrow(message);
  });

  test.each([
    ['an unknown family', errors.replace('[task]', '[tusk]'), /3\/families\/0/],
    ['a status that is no error', errors.replace('404', '204'), /1\/status/],
    [
      'a code twice with one status',
      errors.replace('504', '404'),
      /no_thing has two entries with status 404/,
    ],
    ['a code twice without one', errors + errors.split('\n').at(-2), /thing_lost has two entries/],
    [
      'a final error with a status that clients retry',
      errors.replace('404', '409'),
      /no_thing must not have status 409/,
    ],
    [
      'a 503 without retry: later',
      errors.replace('504', '503'),
      /no_thing must have retry: later for status 503/,
    ],
    [
      'a response family without a status',
      errors.replace('[task]', '[generic]'),
      /thing_lost must have both/,
    ],
    [
      'a status without a response family',
      errors.replace('404, families: [generic]', '404, families: [task]'),
      /no_thing must have both/,
    ],
  ])('%s is reported', (_, text, message) => {
    expect(() => readErrors(text)).toThrow(message);
  });

  test('the catalog keeps ids and renames properties', () => {
    const source = catalogueSource(readModels(models));
    expect(source).toContain("export type ModelId = 'beta/tiny-1';");
    expect(source).toContain('maxCharacters: 600');
    expect(source).toContain("  multimodal: 'beta/tiny-1';");
  });

  const channel = (payloads: object[]) => ({
    channels: {
      socket: { messages: Object.fromEntries(payloads.map((payload, index) => [`m${index}`, { payload }])) },
    },
    operations: { receive: { action: 'receive', channel: { $ref: '#/channels/socket' } } },
  });

  test('client events without a tag are rejected', () => {
    const events = eventsOf(JSON.parse(JSON.stringify(channel([{ type: 'object' }, { type: 'object' }]))));
    expect(() => eventValidatorsSource(events)).toThrow(
      'SocketClientEvent: no constant distinguishes its messages',
    );
  });

  test('a message and a different schema cannot share a name', () => {
    const document = {
      ...channel([{ type: 'object' }]),
      components: { schemas: { M0: { type: 'string' } } },
    };
    expect(() => eventsOf(JSON.parse(JSON.stringify(document)))).toThrow('Rename message M0 or schema M0');
  });
});
