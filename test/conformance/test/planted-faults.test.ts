import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFaultInjectingProxy } from '../../support/fault-injecting-proxy.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { plantedFaults } from '../../support/planted-faults.ts';
import { runConformance } from '../conformance.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ callbacks: { allowPrivate: true, secret } });
  // The lists of tasks and of the log need two entries.
  for (const words of ['The sea.', 'A harbour.']) {
    await call('/v1/embeddings', { model: 'theta-embedding-1', input: words });
    await call('/v1/videos', { model: 'gamma3.0-video-prime', prompt: words, seconds: '2' });
  }
});
afterAll(() => gateway.close());

async function call(path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const response = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
}

/** Returns what the kit reports for an operation behind a proxy of its own. */
async function problemsOf(operation: string, fault = {}): Promise<string> {
  const proxy = await startFaultInjectingProxy(gateway.url);
  proxy.inject(fault);
  const { checks } = await runConformance({
    baseUrl: proxy.url,
    key: gateway.key,
    only: [operation],
    runs: 0,
    seed: 1,
    timeoutMs: 20_000,
    taskTimeoutMs: 30_000,
    triggers: 'off',
    admin: true,
    bodyLimitMb: 64,
    callbackSecret: secret,
  });
  await proxy.close();
  expect(checks.length).toBeGreaterThan(2);
  const failed = checks.filter((check) => check.operation === operation && check.outcome === 'failed');
  return failed.map(({ name, problems }) => `${name}: ${problems.join('\n')}`).join('\n');
}

describe('planted faults', { timeout: 120_000, concurrent: true }, () => {
  test.each(plantedFaults)('reports $title', async ({ operation, fault, problem }) => {
    expect(await problemsOf(operation, fault())).toMatch(problem);
  });

  const operations = [...new Set(plantedFaults.map(({ operation }) => operation))];
  test.each(operations)('reports no problem of %s without a fault', async (operation) => {
    expect(await problemsOf(operation)).toBe('');
  });
});

test('there are at least 60 faults, each with its own title', () => {
  expect(new Set(plantedFaults.map(({ title }) => title)).size).toBe(plantedFaults.length);
  expect(plantedFaults.length).toBeGreaterThanOrEqual(60);
});
