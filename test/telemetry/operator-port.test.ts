import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as rawRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptedFormat } from '../../server/app/operator-port.ts';
import { allMetrics } from '../../server/telemetry/metrics.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { parseOlderFormat, type Scrape, scrape } from './scrape.ts';

const packageFile = new URL('../../package.json', import.meta.url);
/** Suffixes of metrics whose name in the older format has one. */
const suffixOf: Readonly<Record<string, string>> = { counter: '_total', info: '_info' };
const metrics = { host: '127.0.0.1', port: 0 };

let target: TestGateway;
beforeAll(async () => {
  target = await startTestGateway({ metrics });
});
afterAll(() => target.close());

const request = (path: string, init: RequestInit = {}) => fetch(`${target.operatorUrl}${path}`, init);

describe('the operator port', () => {
  test('serves metrics as OpenMetrics, or in the older text format by default', async () => {
    const { families } = await scrape(target.operatorUrl);
    expect(families.get('process_uptime_seconds')?.unit).toBe('seconds');
    const older = await request('/metrics', { headers: { accept: 'text/plain' } });
    expect(older.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await older.text();
    expect(text).not.toMatch(/^# (UNIT|EOF)/m);
    const types = parseOlderFormat(text);
    const counter = 'process_cpu_time_seconds_total';
    expect(['target_info', 'process_uptime_seconds', counter].map((name) => types.get(name))).toEqual([
      'gauge',
      'gauge',
      'counter',
    ]);
    // A metric can get its first value between the two scrapes.
    const names = [...families.values()].map(({ name, type }) => name + (suffixOf[type] ?? ''));
    expect(names.filter((name) => !types.has(name))).toEqual([]);
  });

  test('serves the older text format without an accept header', async () => {
    const { statusCode, headers } = await new Promise<IncomingMessage>((resolve, reject) => {
      rawRequest(`${target.operatorUrl}/metrics`, resolve).on('error', reject).end();
    });
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  });

  test('serves the format that the accept header prefers', () => {
    const openMetrics = 'application/openmetrics-text';
    const accepted: [accept: string | undefined, format: string][] = [
      [undefined, 'prometheus'],
      ['*/*', 'prometheus'],
      [openMetrics, 'openmetrics'],
      [
        `${openMetrics};version=1.0.0;q=0.5,${openMetrics};version=0.0.1;q=0.4,text/plain;q=0.2`,
        'openmetrics',
      ],
      [`${openMetrics}; version=1.0.0; charset=utf-8, text/plain; version=0.0.4`, 'openmetrics'],
      [`text/plain;q=0.9, ${openMetrics};q=0.1`, 'prometheus'],
      [`${openMetrics};version=0.0.1`, 'prometheus'],
      [`${openMetrics};q=0`, 'prometheus'],
      [`${openMetrics};q=x`, 'prometheus'],
    ];
    for (const [accept, format] of accepted)
      expect([accept, acceptedFormat(accept)]).toEqual([accept, format]);
  });

  test('reports the version of the gateway and of Node.js', async () => {
    const read = await scrape(target.operatorUrl);
    const [build] = read.values('unigate_build_info');
    const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
    expect(build).toMatchObject({
      value: 1,
      labels: { service_version: version, process_runtime_version: process.versions.node },
    });
    expect(read.values('target_info')[0]?.labels).toEqual({
      service_name: 'unigate',
      service_version: version,
    });
  });

  test('accepts only GET and HEAD', async () => {
    const head = await request('/metrics', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await request('/metrics', { method: 'POST', body: 'x' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await request('/v1/models')).status).toBe(404);
  });

  test('reports whether the gateway is alive and ready', async () => {
    expect((await request('/healthz')).status).toBe(200);
    expect((await request('/readyz')).status).toBe(200);
    target.gateway.draining = true;
    try {
      expect((await request('/readyz')).status).toBe(503);
      expect((await request('/healthz')).status).toBe(200);
      expect((await request('/metrics')).status).toBe(200);
    } finally {
      target.gateway.draining = false;
    }
  });

  test('is closed without METRICS_PORT and after the gateway stopped', async () => {
    const without = await startTestGateway();
    expect(without.operatorUrl).toBeUndefined();
    await without.close();
    const other = await startTestGateway({ metrics });
    await other.close();
    await expect(fetch(`${other.operatorUrl}/healthz`)).rejects.toThrow('fetch failed');
  });

  test('that is in use fails the start with an error that names the variable', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    try {
      await expect(startTestGateway({ metrics: { ...metrics, port } })).rejects.toThrow(
        `METRICS_HOST and METRICS_PORT, 127.0.0.1 and ${port}: the address is in use.`,
      );
    } finally {
      taken.close();
    }
  });
});

describe('requests', () => {
  const count = (read: Scrape, labels: Record<string, string>) =>
    read.sum('http_server_request_duration_seconds_count', labels);

  test('are counted by operation and status, or by method for an unknown path', async () => {
    const before = await scrape(target.operatorUrl);
    const authorization = `Bearer ${target.key}`;
    await fetch(`${target.url}/v1/models`, { headers: { authorization } }).then((reply) => reply.text());
    await fetch(`${target.url}/v1/models`).then((reply) => reply.text());
    await fetch(`${target.url}/no/such/${'path'.repeat(9)}`, { method: 'DELETE' }).then((reply) =>
      reply.text(),
    );
    const after = await scrape(target.operatorUrl);
    const counted: Record<string, string>[] = [
      { unigate_operation: 'listModels', http_route: '/v1/models', http_response_status_code: '200' },
      { unigate_operation: 'listModels', http_request_method: 'GET', http_response_status_code: '401' },
      { http_request_method: 'DELETE', http_response_status_code: '404' },
    ];
    for (const labels of counted) expect(count(after, labels) - count(before, labels)).toBe(1);
    expect(
      after.values('http_server_request_duration_seconds_count').map(({ labels }) => labels),
    ).not.toContainEqual(expect.objectContaining({ http_route: expect.stringContaining('no/such') }));
  });
});

test('every value has only the labels that its metric declares', async () => {
  const { families } = await scrape(target.operatorUrl);
  const declared = new Set(
    allMetrics
      .flatMap(({ descriptor }) => descriptor.attributes ?? [])
      .map((name) => name.replaceAll('.', '_')),
  );
  for (const { type, samples } of families.values()) {
    if (type === 'info') continue;
    for (const { labels } of samples)
      expect(Object.keys(labels).filter((label) => label !== 'le' && !declared.has(label))).toEqual([]);
  }
});
