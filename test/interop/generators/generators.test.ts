import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  deref,
  type JsonObject,
  objects,
  operationsOf,
  pascal,
  refName,
} from '../../../openapi/tools/document.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { type CallResult, eventsProgram, programs, type SpeechResult } from './generated-calls.ts';
import { exportedTypes, generateEvents, generators, problemsOf } from './generators.ts';
import { buildGo, callWithGo, generateGo, goProgram, hasGo } from './go-client.ts';

const root = join(import.meta.dirname, '../../..');
const generated = (name: string) => join(root, 'generated', name);
const file = generated('openapi-clients.json');

let folder = '';
let json: JsonObject = {};
let gateway: TestGateway;

beforeAll(async () => {
  // Inside the package folder, so that the generated code resolves its dependencies.
  folder = await mkdtemp(join(root, 'test/interop/node_modules/.generators-'));
  json = JSON.parse(await readFile(file, 'utf8')) as JsonObject;
  gateway = await startTestGateway();
});

afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

/** Names of request body schemas. */
const requests = () =>
  operationsOf(json).flatMap(({ node }) =>
    objects(deref(json, node.requestBody).content).flatMap(([, { schema }]) => {
      const { $ref } = (schema ?? {}) as { $ref?: string };
      return $ref === undefined ? [] : [refName($ref)];
    }),
  );

/** Types of responses without a body, such as that of a handshake. Some generators type them as any or unknown. */
const withoutBody = () =>
  operationsOf(json)
    .filter(({ node }) =>
      objects(node.responses).every(
        ([status, response]) => Number(status) >= 300 || !deref(json, response).content,
      ),
    )
    .flatMap(({ id }) => [`${pascal(id)}Query`, `${pascal(id)}ApiResponse`]);

/** Matches types of the generated client, which are not part of the contract. */
const inGeneratedClient = /^(Full)?RequestParams at /;

/** Matches a header and a schema with the same name, which the generator for OpenAPI 3.0 does not support. */
const unsupported = /\bWebhook(Id|Signature|Timestamp)\b/;

/** Matches fields that are always null, which the event generator cannot type. */
const alwaysNull = /^\w+ at ("\.(output\.)?(data|type)"( \| )?)+$/;

/** Expects a complete WAV file. Bytes that were decoded as text have another length than their header states. */
function expectWave(file: Buffer): void {
  expect(file.toString('latin1', 0, 4)).toBe('RIFF');
  expect(file.length).toBe(file.readUInt32LE(4) + 8);
  expect(file.length).toBeGreaterThan(10_000);
}

describe.each(Object.entries(generators))('%s', (name, generate) => {
  const program = programs[name];
  let own: string;
  let types: string;
  beforeAll(async () => {
    own = await mkdtemp(join(folder, `${name}-`));
    types = await generate({ file, json, file30: generated('openapi-3.0.json'), baseUrl: gateway.url }, own);
  });

  test('generates complete types of the contract that compile', async () => {
    const names = exportedTypes(await readFile(types, 'utf8')).map((found) => found.toLowerCase());
    expect(names).toEqual(expect.arrayContaining(requests().map((request) => request.toLowerCase())));
    if (program !== undefined) await writeFile(join(own, 'call.ts'), program);
    const problems = await problemsOf(types, own, program === undefined ? [] : [join(own, 'call.ts')]);
    const meant = (problem: string) =>
      inGeneratedClient.test(problem) ||
      (name === 'openapi-typescript-codegen' && unsupported.test(problem)) ||
      withoutBody().some((type) => problem.startsWith(type));
    expect(problems.filter((problem) => !meant(problem))).toEqual([]);
  });

  if (program === undefined) return;

  test('generates a client that calls the gateway', async () => {
    const outfile = join(own, 'call.mjs');
    const entry = { contents: program, resolveDir: own, loader: 'ts' } as const;
    await build({ stdin: entry, outfile, bundle: true, format: 'esm', platform: 'node' });
    const { call } = (await import(outfile)) as { call(baseUrl: string, key: string): Promise<CallResult> };
    const { models, audio, task } = await call(gateway.url, gateway.key);
    expect(models).toContain('gamma3.0-video-prime');
    expectWave(Buffer.from(audio));
    expect(task.polled).toBe(task.made);
  });
});

describe.skipIf(!hasGo && process.env.CI !== 'true')('quicktype, for Go', () => {
  test('generates types with which a program calls the gateway', async () => {
    const own = await mkdtemp(join(folder, 'go-'));
    const names = await generateGo(json, own);
    const source = await readFile(join(own, 'types.go'), 'utf8');
    expect(names.filter((one) => !new RegExp(`^type ${one}\\b`, 'im').test(source))).toEqual([]);
    const program = await buildGo(goProgram, own);
    const { models, audio, task } = await callWithGo(program, gateway.url, gateway.key);
    expect(models).toContain('gamma3.0-video-prime');
    expectWave(Buffer.from(audio));
    expect(task.polled).toBe(task.made);
  });
});

describe('modelina, from the events', () => {
  let own: string;
  let types: string;
  let events: JsonObject;
  beforeAll(async () => {
    own = await mkdtemp(join(folder, 'modelina-'));
    events = JSON.parse(await readFile(generated('asyncapi.json'), 'utf8')) as JsonObject;
    types = await generateEvents(events, own);
  });

  test('generates complete types of the messages that compile', async () => {
    const names = exportedTypes(await readFile(types, 'utf8'));
    const { messages } = events.components as { messages: JsonObject };
    const payloads = objects(messages).map(([, { payload }]) => refName((payload as { $ref: string }).$ref));
    expect(names).toEqual(expect.arrayContaining(payloads));
    const program = join(own, 'speak.ts');
    await writeFile(program, eventsProgram);
    const problems = await problemsOf(types, own, [program]);
    expect(problems.filter((problem) => !alwaysNull.test(problem))).toEqual([]);
  });

  test('generates types with which a program uses the socket', async () => {
    const outfile = join(own, 'speak.mjs');
    const entry = { contents: eventsProgram, resolveDir: own, loader: 'ts' } as const;
    await build({ stdin: entry, outfile, bundle: true, format: 'esm', platform: 'node' });
    const { speak } = (await import(outfile)) as {
      speak(baseUrl: string, key: string): Promise<SpeechResult>;
    };
    const { bytes, types: eventTypes } = await speak(gateway.url, gateway.key);
    expect(bytes).toBeGreaterThan(10_000);
    expect(eventTypes).toEqual(
      expect.arrayContaining(['response.created', 'response.done', 'session.finished']),
    );
  });
});

test('the event types are complete', async () => {
  expect(await problemsOf(generated('events.ts'), await mkdtemp(join(folder, 'events-')))).toEqual([]);
});

test('a type any or unknown is found at its location', async () => {
  const own = await mkdtemp(join(folder, 'fixture-'));
  const types = join(own, 'types.ts');
  await writeFile(
    types,
    `export type Good = { a?: string; [key: string]: unknown };
export type Lost = any;
export interface Request { list?: { text: string; free: unknown }[]; }
export type Wrong = Missing;
`,
  );
  expect(await problemsOf(types, own)).toEqual([
    'Lost at ""',
    'Request at ".list[].free"',
    'Wrong at ""',
    expect.stringContaining("error TS2304: Cannot find name 'Missing'"),
  ]);
});
