import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { expect, test, vi } from 'vitest';

// The linter follows every reference of a document of 2 MB.
vi.setConfig({ testTimeout: 300_000 });

const generated = join(import.meta.dirname, '../../generated');

/** Warnings that stay, as `rule at path`, with the reason. */
const accepted: Readonly<Record<string, string>> = {
  'operation-success-response at paths./api-ws/v1/realtime.get.responses': 'A socket handshake returns 101.',
  'operation-success-response at paths./v1/realtime.get.responses': 'A socket handshake returns 101.',
  'operation-success-response at paths./api-ws/v1/inference.get.responses': 'A socket handshake returns 101.',
  'path-keys-no-trailing-slash at paths./api/token/': 'The interface defines this path.',
  'asyncapi-info-contact-properties at info.contact': 'The project has no public address.',
  'asyncapi-latest-version at asyncapi': 'The tools of the contract support 3.0.',
};

const linter = new spectral.Spectral();
// The declarations of the two packages differ in details of the format.
linter.setRuleset({ extends: [rulesets.oas, rulesets.asyncapi] } as unknown as spectral.RulesetDefinition);

const lint = async (document: Record<string, unknown>) =>
  (await linter.run(document)).map(({ code, path }) => `${code} at ${path.join('.')}`);

test.each(['openapi.json', 'openapi-clients.json', 'openapi-3.0.json', 'asyncapi.json'])(
  "%s passes Spectral's default rules",
  async (name) => {
    const document = JSON.parse(await readFile(join(generated, name), 'utf8')) as Record<string, unknown>;
    const problems = await lint(document);
    expect(problems.filter((problem) => !(problem in accepted))).toEqual([]);
  },
);

test('a document with errors does not pass', async () => {
  const headers = { 'x-kind': { description: 'Kind.', schema: { const: 'song' } } };
  const response = { description: 'ok', headers };
  const operation = { operationId: 'listSongs', description: 'Lists songs.', tags: ['music'] };
  const problems = await lint({
    openapi: '3.0.3',
    info: { title: 'Fixture', version: '1', description: 'Fixture.' },
    servers: [{ url: 'https://fixture.example' }],
    tags: [{ name: 'music', description: 'Music.' }],
    paths: { '/songs': { get: { ...operation, responses: { '200': response } } } },
  });
  expect(problems).toEqual([
    'info-contact at info',
    'oas3-schema at paths./songs.get.responses.200.headers.x-kind.schema.const',
  ]);
});
