import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  deref,
  type JsonObject,
  objects,
  operationsOf,
  pascal,
  refName,
} from '../../openapi/tools/document.ts';
import { exportedTypes, generators, problemsOf } from '../support/generators.ts';

// Each generator reads the whole contract, and the compiler all that it makes of it.
vi.setConfig({ testTimeout: 120_000 });

const generated = (name: string) => fileURLToPath(new URL(`../../generated/${name}`, import.meta.url));
const file = generated('openapi-clients.json');

let folder = '';
let json: JsonObject = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generators-'));
  json = JSON.parse(await readFile(file, 'utf8')) as JsonObject;
});

afterAll(() => rm(folder, { recursive: true }));

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

test.each(Object.entries(generators))('%s makes whole types of the contract', async (name, generate) => {
  const own = await mkdtemp(join(folder, `${name}-`));
  const types = await generate({ file, json }, own);
  const names = exportedTypes(await readFile(types, 'utf8')).map((found) => found.toLowerCase());
  expect(names).toEqual(expect.arrayContaining(requests().map((request) => request.toLowerCase())));
  const problems = await problemsOf(types, own);
  expect(
    problems.filter((problem) => !handshakes().some((handshake) => problem.startsWith(handshake))),
  ).toEqual([]);
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
