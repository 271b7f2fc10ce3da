import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ProxyFault, startFaultInjectingProxy } from '../../support/fault-injecting-proxy.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { plantedFaults } from '../../support/planted-faults.ts';
import { runConformance } from '../conformance.ts';

const callbackSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ callbacks: { allowPrivate: true, secret: callbackSecret } });
});
afterAll(() => gateway.close());

async function create(path: string, body: object, key = gateway.key): Promise<unknown> {
  // On a busy machine, a kept connection may be closed at the moment of the next request.
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' };
  const response = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return response.json();
}

/** Entries for the operations that list what their user has created. */
const entries: Readonly<Record<string, { path: string; body: object }>> = {
  listTokens: { path: '/api/token/', body: { name: 'listed', remain_quota: 0 } },
  searchLogs: { path: '/v1/embeddings', body: { model: 'theta-embedding-1', input: 'The sea.' } },
  listVideos: {
    path: '/v1/videos',
    body: { model: 'gamma3.0-video-prime', prompt: 'The sea.', seconds: '2' },
  },
};

let users = 0;
/** Creates a user of its own for a run, so that concurrent runs do not change its lists. Returns an admin key. */
async function createUser(operation: string): Promise<string> {
  users += 1;
  const name = `tester-${users}`;
  const { data: user } = (await create('/api/admin/users', { name, role: 'admin' })) as {
    data: { id: number };
  };
  const rights = { name, unlimited_quota: true, admin: true };
  const { data: token } = (await create(`/api/admin/users/${user.id}/tokens`, rights)) as {
    data: { key: string };
  };
  const entry = entries[operation];
  if (entry !== undefined)
    for (let count = 0; count < 3; count += 1) await create(entry.path, entry.body, token.key);
  return token.key;
}

/** Runs some checks of an operation behind a proxy of its own. Returns what the kit reports. */
async function problemsOf(operation: string, names: readonly string[], fault: ProxyFault): Promise<string> {
  const proxy = await startFaultInjectingProxy(gateway.url);
  proxy.inject(fault);
  const { checks } = await runConformance({
    baseUrl: proxy.url,
    key: await createUser(operation),
    only: [operation],
    selects: (name) => names.some((one) => name.startsWith(one)),
    runs: 0,
    seed: 1,
    timeoutMs: 60_000,
    taskTimeoutMs: 60_000,
    triggers: 'off',
    admin: true,
    bodyLimitMb: 64,
    callbackSecret,
  });
  await proxy.close();
  const own = checks.filter((check) => check.operation === operation);
  expect(own.map(({ outcome }) => outcome)).not.toContain('skipped');
  expect(own.length).toBeGreaterThanOrEqual(names.length);
  return own
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ name, problems }) => `${name}: ${problems.join('\n')}`)
    .join('\n');
}

describe('planted faults', { timeout: 180_000, concurrent: true }, () => {
  test.each(plantedFaults)('reports $title', async ({ operation, check, fault, problem }) => {
    expect(await problemsOf(operation, [check], fault())).toMatch(problem);
  });

  const operations = Map.groupBy(plantedFaults, ({ operation }) => operation);
  test.each([...operations])('reports no problem of %s without a fault', async (operation, faults) => {
    const checks = [...new Set(faults.map(({ check }) => check))];
    expect(await problemsOf(operation, checks, {})).toBe('');
  });
});

test('there are at least 60 faults, each with its own title', () => {
  expect(new Set(plantedFaults.map(({ title }) => title)).size).toBe(plantedFaults.length);
  expect(plantedFaults.length).toBeGreaterThanOrEqual(60);
});
