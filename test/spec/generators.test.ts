import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  deref,
  type JsonObject,
  objects,
  operationsOf,
  pascal,
  refName,
} from '../../openapi/tools/document.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type Called, programs } from '../support/generated-calls.ts';
import { exportedTypes, generators, problemsOf } from '../support/generators.ts';

// Each generator reads the whole contract, and the compiler all that it makes of it.
vi.setConfig({ testTimeout: 120_000 });

const root = join(import.meta.dirname, '../..');
const generated = (name: string) => join(root, 'generated', name);
const file = generated('openapi-clients.json');

let folder = '';
let json: JsonObject = {};
let gateway: TestGateway;

beforeAll(async () => {
  // Below the packages, so that what is made finds those it needs.
  folder = await mkdtemp(join(root, 'node_modules/.generators-'));
  json = JSON.parse(await readFile(file, 'utf8')) as JsonObject;
  gateway = await startTestGateway();
});

afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

/** Names of the schemas that are bodies of requests. */
const requests = () =>
  operationsOf(json).flatMap(({ node }) =>
    objects(deref(json, node.requestBody).content).flatMap(([, { schema }]) => {
      const { $ref } = (schema ?? {}) as { $ref?: string };
      return $ref === undefined ? [] : [refName($ref)];
    }),
  );

/** A handshake answers with no body and with no 2xx; some generators have no better word for it than any. */
const handshakes = () =>
  operationsOf(json)
    .filter(({ node }) => objects(node.responses).some(([status]) => status === '101'))
    .map(({ id }) => `${pascal(id)}Query`);

/** Beside the types of the contract stand those of the client that a generator makes. */
const ofTheClient = /^(Full)?RequestParams at /;

describe.each(Object.entries(generators))('%s', (name, generate) => {
  const program = programs[name];
  let own: string;
  let types: string;
  beforeAll(async () => {
    own = await mkdtemp(join(folder, `${name}-`));
    types = await generate({ file, json, baseUrl: gateway.url }, own);
  }, 120_000);

  test('makes whole types of the contract, and compiles', async () => {
    const names = exportedTypes(await readFile(types, 'utf8')).map((found) => found.toLowerCase());
    expect(names).toEqual(expect.arrayContaining(requests().map((request) => request.toLowerCase())));
    if (program !== undefined) await writeFile(join(own, 'call.ts'), program);
    const problems = await problemsOf(types, own, program === undefined ? [] : [join(own, 'call.ts')]);
    const meant = (problem: string) =>
      ofTheClient.test(problem) || handshakes().some((handshake) => problem.startsWith(handshake));
    expect(problems.filter((problem) => !meant(problem))).toEqual([]);
  });

  if (program === undefined) return;

  test('makes a client that calls the gateway', async () => {
    const outfile = join(own, 'call.mjs');
    const entry = { contents: program, resolveDir: own, loader: 'ts' } as const;
    await build({ stdin: entry, outfile, bundle: true, format: 'esm', platform: 'node' });
    const { call } = (await import(outfile)) as { call(baseUrl: string, key: string): Promise<Called> };
    const { models, bytes, task } = await call(gateway.url, gateway.key);
    expect(models).toContain('gamma3.0-video-prime');
    expect(bytes).toBeGreaterThan(1000);
    expect(task.polled).toBe(task.made);
  });
});

test('the types of the events are whole', async () => {
  expect(await problemsOf(generated('events.ts'), await mkdtemp(join(folder, 'events-')))).toEqual([]);
});

test('a type that is any or unknown is found where it stands', async () => {
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
