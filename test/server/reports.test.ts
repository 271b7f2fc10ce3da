import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { yieldToEventLoop } from '../../server/lib/timers.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { generateKey, hashKey } from '../../server/store/keys.ts';
import type { ReportArgs, ReportName } from '../../server/store/reports.ts';
import type { Store } from '../../server/store/store.ts';
import type { TestStore } from '../store/engines.ts';
import { disableToken } from '../store/ledger.ts';
import { insertLogEntries, runStatement } from '../store/raw-rows.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { ManualTimers } from '../support/manual-timers.ts';

const exportPath = '/api/admin/logs/export';
const longName = 'x'.repeat(2_000);

let target: TestGateway;
let timers: ManualTimers;
let report: Store['report'];
const reportNames: ReportName[] = [];
/** Replaces a report if it returns a promise. */
let override: <Name extends ReportName>(name: Name, args: ReportArgs<Name>) => Promise<unknown> | undefined;

beforeAll(async () => {
  timers = new ManualTimers();
  target = await startTestGateway({ sandbox: false, channels: [] }, 'sqlite', Date.now, undefined, timers);
  const { store } = target.gateway;
  report = store.report.bind(store);
  Object.assign(store, {
    report: ((name, args) => {
      reportNames.push(name);
      return override(name, args) ?? report(name, args);
    }) as Store['report'],
  });
});
beforeEach(() => {
  reportNames.length = 0;
  override = () => undefined;
});
afterAll(() => target.close());

const get = (path: string, key = target.key) =>
  fetch(target.url + path, { headers: { authorization: `Bearer ${key}` } });
const pages = () => reportNames.filter((name) => name === 'exportPage').length;

/** Writes entries of 2 kB, so that a few pages fill the buffers between gateway and client. */
async function writeEntries(count: number) {
  await runStatement(storeFiles(), 'delete from request_log');
  await write(count, 1);
}

const storeFiles = () =>
  ({ engine: 'sqlite', options: { dataDir: target.gateway.settings.dataDir } }) as TestStore;

async function write(count: number, from: number) {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: from + index,
    request_id: `r${from + index}`,
    user_id: 1,
    token_id: 1,
    token_name: longName,
    model_name: 'm',
    operation: 'o',
    channel: 'c',
    status: 200,
    unit: 'tokens',
    units: 1,
    prompt_tokens: 1,
    completion_tokens: 1,
    quota: 1,
    duration_ms: 1,
    created_at: 1_795_000_000,
  }));
  await insertLogEntries(storeFiles(), rows);
}

/** Opens a connection that does not read the response until `resume` is called. */
async function openPaused(path: string) {
  const { hostname, port } = new URL(target.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  await once(socket, 'connect');
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${target.key}\r\nconnection: close\r\n\r\n`,
  );
  return socket;
}

/** Waits until no more pages are read. */
async function waitUntilPaused() {
  await vi.waitFor(() => expect(pages()).toBeGreaterThan(1), 10_000);
  let before = -1;
  await vi.waitFor(
    () => {
      const now = pages();
      const isUnchanged = now === before;
      before = now;
      expect(isUnchanged).toBe(true);
    },
    { timeout: 10_000, interval: 100 },
  );
  return before;
}

describe('an export', () => {
  test('is complete and ends while entries are written', async () => {
    await writeEntries(1_700);
    let later = 100_000;
    override = (name, args) => {
      if (name !== 'exportPage') return undefined;
      later += 1;
      return write(1, later).then(() => report(name, args));
    };
    const lines = (await (await get(exportPath)).text()).split('\n').slice(0, -1);
    expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual(
      Array.from({ length: 1_700 }, (_, index) => index + 1),
    );
    expect(later).toBeGreaterThan(100_003);
  });

  test('is read no faster than its client reads, and does not block other requests', async () => {
    await writeEntries(12_000);
    const socket = await openPaused(exportPath);
    expect(await waitUntilPaused()).toBeLessThan(24);
    expect((await get(`${exportPath}?request_id=r7`)).status).toBe(200);
    expect((await get('/api/log/search?keyword=m')).status).toBe(200);
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    socket.resume();
    await once(socket, 'close');
    expect(bytes).toBeGreaterThan(12_000 * longName.length);
  });

  test('ends when its client disconnects', async () => {
    await writeEntries(12_000);
    const socket = await openPaused(exportPath);
    const read = await waitUntilPaused();
    socket.destroy();
    await vi.waitFor(() => expect(target.gateway.reports.exports.isIdle).toBe(true));
    expect(await waitUntilPaused()).toBeLessThanOrEqual(read + 1);
  });

  test('that fails before the first line has an error status', async () => {
    await writeEntries(1);
    override = (name) =>
      name === 'exportPage' ? Promise.reject(new StoreUnavailable(new Error('away'))) : undefined;
    const reply = await get(`${exportPath}?format=csv`);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([
      503,
      'application/json; charset=utf-8',
    ]);
    expect(reply.headers.get('content-disposition')).toBeNull();
  });

  test.each(['csv', 'jsonl'])('that fails later breaks off: %s', async (format) => {
    await writeEntries(1_700);
    override = (name) =>
      name === 'exportPage' && pages() > 2
        ? Promise.reject(new StoreUnavailable(new Error('away')))
        : undefined;
    const reply = await get(`${exportPath}?format=${format}`);
    expect(reply.status).toBe(200);
    await expect(reply.text()).rejects.toThrow();
  });

  test('ends when its key is disabled', async () => {
    await writeEntries(1_700);
    const { store } = target.gateway;
    const key = generateKey();
    const token = {
      userId: 1,
      name: 'short-lived',
      keyHash: hashKey(key),
      keyHint: '',
      unlimitedQuota: true,
      adminScope: true,
      now: 1,
    };
    const { id } = await store.run('createToken', token);
    override = (name, args) =>
      name === 'exportPage' && pages() === 2
        ? disableToken(store, { id }).then(() => report(name, args))
        : undefined;
    await expect((await get(exportPath, key)).text()).rejects.toThrow();
    expect(pages()).toBe(2);
  });
});

test('only one audit runs at a time, and a request that waits too long gets a 503', async () => {
  const audit = Promise.withResolvers<unknown>();
  override = (name) => (name === 'auditLedger' ? audit.promise : undefined);
  const first = get('/api/admin/audit');
  await vi.waitFor(() => expect(reportNames).toEqual(['auditLedger']));
  const second = get('/api/admin/audit');
  let refused: Response | undefined;
  await vi.waitFor(async () => {
    timers.advance(6_000);
    refused ??= await Promise.race([second, yieldToEventLoop().then(() => undefined)]);
    expect(refused).toBeDefined();
  }, 10_000);
  expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([503, '1']);
  // Other reports do not wait for an audit.
  expect((await get('/api/admin/figures')).status).toBe(200);
  audit.resolve(await report('auditLedger', null));
  expect((await first).status).toBe(200);
  override = () => undefined;
  expect((await get('/api/admin/audit')).status).toBe(200);
});
