import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { allMetrics } from '../../server/telemetry/metrics.ts';
import { alerts } from '../../server/telemetry/monitoring/alerts.ts';
import { dashboard } from '../../server/telemetry/monitoring/dashboard.ts';
import { nameOf } from '../../server/telemetry/monitoring/query.ts';
import { freePort } from '../support/free-port.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { alertCases } from './alert-cases.ts';
import { hasPrometheus, promtool } from './promtool.ts';

const ruleFile = fileURLToPath(new URL('../../generated/monitoring/alerts.yaml', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-monitoring-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Expressions of the dashboard, with its variables replaced. */
function dashboardQueries(): string[] {
  const { panels } = dashboard() as { panels: { targets?: { expr: string }[] }[] };
  const variables = { $__rate_interval: '1m', $job: '.*', $instance: '.*' };
  return panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((expr) =>
      Object.entries(variables).reduce((text, [name, value]) => text.replaceAll(name, value), expr),
    );
}

describe('the dashboard', () => {
  test('shows every metric', () => {
    const queries = dashboardQueries().join('\n');
    const isShown = (name: string) => new RegExp(`\\b${name}(_count)?\\{`).test(queries);
    expect(allMetrics.map(nameOf).filter((name) => !isShown(name))).toEqual([]);
  });

  test('has panels that do not overlap, with unique ids', () => {
    const { panels } = dashboard() as {
      panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
    };
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });
});

test('every alert has a case, with a summary and a description in full sentences', () => {
  expect(alerts.map(({ name }) => name).toSorted()).toEqual(Object.keys(alertCases).toSorted());
  for (const { summary, description } of alerts) {
    expect(summary).toMatch(/^[A-Z].*\.$/);
    expect(description).toMatch(/\.$/);
  }
});

describe.skipIf(!hasPrometheus)('Prometheus', () => {
  test('accepts the alert rules', () => {
    const { code, output } = promtool(['check', 'rules', ruleFile]);
    expect([code, output]).toEqual([0, expect.stringContaining(`${alerts.length} rules found`)]);
  });

  test.each(Object.entries(alertCases))('%s fires when it should', async (name, alertCase) => {
    const { series, firesAt, silentAt } = alertCase;
    const firing = (minute: number, exp_samples: object[]) => ({
      expr: `count by (alertname) (ALERTS{alertname="${name}",alertstate="firing"})`,
      eval_time: `${minute}m`,
      exp_samples,
    });
    const withJob = (text: string) => {
      const [metric = '', labels = ''] = text.split(/[{}]/);
      return `${metric}{job="unigate"${labels === '' ? '' : `,${labels}`}}`;
    };
    const input = Object.entries(series).map(([text, values]) => ({ series: withJob(text), values }));
    const file = join(folder, `${name}.yaml`);
    const promql_expr_test = [
      firing(firesAt, [{ labels: `{alertname="${name}"}`, value: 1 }]),
      firing(silentAt, []),
    ];
    await writeFile(
      file,
      stringify({
        rule_files: [ruleFile],
        evaluation_interval: '1m',
        tests: [{ interval: '1m', input_series: input, promql_expr_test }],
      }),
    );
    expect(promtool(['test', 'rules', file])).toEqual({
      code: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  });

  describe('that scrapes a gateway', { timeout: 60_000 }, () => {
    let target: TestGateway;
    let prometheus: ChildProcess;
    let url: string;
    beforeAll(async () => {
      target = await startTestGateway({ metrics: { host: '127.0.0.1', port: 0 } });
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      const config = join(folder, 'prometheus.yaml');
      const targets = [new URL(target.operatorUrl ?? '').host];
      await writeFile(
        config,
        stringify({
          global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
          rule_files: [ruleFile],
          scrape_configs: [{ job_name: 'unigate', static_configs: [{ targets }] }],
        }),
      );
      const storage = `--storage.tsdb.path=${join(folder, 'data')}`;
      const listen = `--web.listen-address=127.0.0.1:${port}`;
      prometheus = spawn('prometheus', [`--config.file=${config}`, storage, listen], { stdio: 'ignore' });
      await once(prometheus, 'spawn');
    }, 60_000);
    afterAll(async () => {
      const ended = prometheus === undefined ? undefined : once(prometheus, 'exit');
      prometheus?.kill('SIGKILL');
      await ended;
      await target?.close();
    });

    const get = async <Data>(path: string, query: Record<string, string> = {}): Promise<Data> => {
      const reply = await fetch(`${url}${path}?${new URLSearchParams(query).toString()}`);
      const { status, data, error } = (await reply.json()) as { status: string; data: Data; error?: string };
      expect([query, status, error]).toEqual([query, 'success', undefined]);
      return data;
    };
    const valuesOf = async (query: string) =>
      (await get<{ result: { value: [number, string] }[] }>('/api/v1/query', { query })).result;

    test('has no error, and finds values for the dashboard and no alert', async () => {
      const { key } = target;
      const reply = await fetch(`${target.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      expect(reply.status).toBe(200);
      await reply.arrayBuffer();
      const within = { timeout: 30_000 };
      await vi.waitFor(async () => {
        const counted = 'http_server_request_duration_seconds_count{unigate_operation="listModels"}';
        expect(await valuesOf(`count_over_time(${counted}[1m]) > 1`)).not.toEqual([]);
      }, within);
      const { activeTargets } = await get<{ activeTargets: { lastError: string; health: string }[] }>(
        '/api/v1/targets',
      );
      expect(activeTargets).toMatchObject([{ lastError: '', health: 'up' }]);
      await vi.waitFor(async () => {
        const { groups } = await get<{ groups: { rules: { health: string; name: string }[] }[] }>(
          '/api/v1/rules',
        );
        const health = groups.flatMap(({ rules }) => rules.map((rule) => rule.health));
        expect(health).toEqual(alerts.map(() => 'ok'));
      }, within);
      expect((await get<{ alerts: object[] }>('/api/v1/alerts')).alerts).toEqual([]);
      let found = 0;
      for (const query of dashboardQueries()) if ((await valuesOf(query)).length > 0) found += 1;
      expect(found).toBeGreaterThan(20);
    });
  });
});
