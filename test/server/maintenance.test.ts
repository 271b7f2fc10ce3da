import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { Retention } from '../../server/quota/maintenance.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { auditLedger } from '../../server/store/queries/audit.ts';
import { readSnapshot } from '../../server/store/read-snapshot.ts';
import { CallbackDeliveries } from '../../server/tasks/callbacks/callback-deliveries.ts';
import { Tasks } from '../../server/tasks/tasks.ts';
import { runCommand } from '../client/terminal.ts';
import { databaseUrl, engines, TestStore } from '../store/engines.ts';
import { fillStore } from '../store/full-store.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { recordResponseBody } from '../support/recorded-errors.ts';
import { connect } from '../support/socket-client.ts';

describe.each(engines)('a gateway in maintenance mode on %s', (engine) => {
  let testStore: TestStore;
  let gateway: TestGateway | undefined;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
    const store = await testStore.open();
    await fillStore(testStore, store);
    await store.close();
  });
  afterEach(async () => {
    await gateway?.close();
    vi.restoreAllMocks();
    await testStore.remove();
  });

  /** Starts a gateway on the store of the test, with an operator port. */
  async function start(maintenance: boolean): Promise<TestGateway> {
    const url = new URL(databaseUrl);
    url.searchParams.set('options', `-csearch_path=${testStore.options.schema}`);
    const stored = engine === 'postgres' ? { databaseUrl: url.href } : { dataDir: testStore.options.dataDir };
    gateway = await startTestGateway({ ...stored, maintenance, metrics: { host: '127.0.0.1', port: 0 } });
    return gateway;
  }

  const spies = () => [
    vi.spyOn(Tasks.prototype, 'start'),
    vi.spyOn(CallbackDeliveries.prototype, 'start'),
    vi.spyOn(Retention.prototype, 'start'),
  ];

  test('starts no work of its own and returns the leases of the copy', async () => {
    const starts = spies();
    const { gateway: running, close } = await start(true);
    for (const started of starts) expect(started).not.toHaveBeenCalled();
    const work = (table: 'tasks' | 'deliveries') => () =>
      running.store.read.selectFrom(table).selectAll().execute();
    // On PostgreSQL the gateway of the copy counts as lost after some heartbeats.
    await expect.poll(work('tasks')).toMatchObject([{ lease_owner: null, completed_at: null }]);
    await expect.poll(work('deliveries')).toMatchObject([{ lease_owner: null, tries: 1, closed_at: null }]);
    const audit = () => readSnapshot(testStore.options, auditLedger);
    await expect.poll(audit).toMatchObject({ leased: 0, held: 20, problems: [] });
    await close();

    await start(false);
    for (const started of starts) expect(started).toHaveBeenCalledOnce();
  });

  test('starts its work once when it is released', async () => {
    const starts = spies();
    const { url, key, gateway: running } = await start(true);
    const { admin } = new Unigate({ baseUrl: url, apiKey: key, maxRetries: 0 });
    const [tasksStart, callbacksStart, retentionStart] = starts;
    callbacksStart?.mockRejectedValueOnce(new Error('the callbacks do not start'));
    await expect(admin.release()).rejects.toMatchObject({ status: 500 });
    expect(running.maintenance).toBe(true);
    const releases = await Promise.all([admin.release(), admin.release()]);
    expect(releases.filter(({ released }) => released)).toHaveLength(1);
    for (const started of [tasksStart, retentionStart]) expect(started).toHaveBeenCalledOnce();
    expect(callbacksStart).toHaveBeenCalledTimes(2);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const changes = await running.store.read
      .selectFrom('changes')
      .select(['subject', 'token_id'])
      .where('action', '=', 'releaseGateway')
      .execute();
    expect(changes[0]).toMatchObject({ subject: 'gateway', token_id: expect.any(Number) });
    expect(await admin.release()).toEqual({ released: false });
    const { count } = await running.store.read
      .selectFrom('changes')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('action', '=', 'releaseGateway')
      .executeTakeFirstOrThrow();
    expect(count).toBe(changes.length);
    const { code, stdout } = await runCommand(['admin', 'release'], {
      env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: key },
    });
    expect([code, stdout.toString()]).toEqual([0, 'released  no\n']);
  });

  test('answers management reads and refuses everything else', async () => {
    const { url, key, operatorUrl } = await start(true);
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      recordResponseBody({ method, path }, response.status, text);
      return { status: response.status, retryAfter: response.headers.get('retry-after'), text };
    };
    for (const path of [
      '/api/admin/tasks',
      '/api/admin/tasks/task%20of%20rt',
      '/api/admin/audit',
      '/api/admin/channels',
      '/api/admin/deliveries',
      '/api/me',
      '/api/me/tasks',
      '/api/log/search',
      '/api/callbacks',
      '/api/token/',
      '/v1/models',
      '/healthz',
      '/openapi.json',
    ])
      expect([path, (await call('GET', path)).status]).toEqual([path, 200]);
    for (const [method, path, body] of [
      ['POST', '/v1/audio/speech', { model: 'alpha3-tts-flash', input: 'Hello.', voice: 'Cherry' }],
      ['POST', '/v1/videos', { model: 'gamma3.0-video', prompt: 'A kite.' }],
      ['GET', '/v1/videos/task%20of%20rt', undefined],
      ['POST', '/v1/messages', {}],
      ['POST', '/api/v1/services/aigc/video-generation/video-synthesis', {}],
      ['POST', '/api/admin/deliveries/1/resend', undefined],
      ['POST', '/api/admin/channels/sandbox/test', {}],
      ['DELETE', '/api/admin/tokens/1', undefined],
    ] as const) {
      const { status, retryAfter, text } = await call(method, path, body);
      expect([path, status, retryAfter]).toEqual([path, 503, '60']);
      expect(text).toContain('maintenance mode');
    }
    const socket = connect(`${url}/api-ws/v1/realtime?model=alpha3-tts-flash-realtime`, { key });
    await expect(socket).rejects.toMatchObject({ status: 503, body: { error: { code: 'maintenance' } } });
    expect(await call('GET', '/readyz')).toMatchObject({ status: 503, retryAfter: '60' });
    expect(await (await fetch(`${operatorUrl}/readyz`)).json()).toMatchObject({
      status: 'unavailable',
      reason: expect.stringContaining('maintenance mode'),
    });
    expect((await fetch(`${url}/api/me`)).status).toBe(401);
  });
});

test('MAINTENANCE is true or false', () => {
  const read = (MAINTENANCE: string) => readSettings({ MAINTENANCE }).maintenance;
  expect(['', 'false', 'true'].map(read)).toEqual([false, false, true]);
  expect(() => read('yes')).toThrow('MAINTENANCE must be true or false, not yes.');
});
