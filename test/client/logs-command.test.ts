import { expect, test } from 'vitest';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

const entry = (id: number, more: object = {}) => ({
  id,
  created_at: 1_795_000_000 + id,
  request_id: `req_${id}`,
  token_name: 'phone\u001b[31m',
  model_name: 'voxa-v2',
  state: 'completed',
  quota: 52,
  task_id: null,
  ...more,
});

/** Currency of the amounts in lines, but not in JSON. */
const display = { quota_per_unit: 100, currency: 'EUR' };

/** Responds with one list of entries after the other. Calls `ended` after the last. */
async function startLogServer(pages: object[][], ended = () => {}) {
  const queries: URLSearchParams[] = [];
  const url = await startStubServer(({ url: path = '' }, response) => {
    if (path === '/api/me') {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: { display } }));
      return;
    }
    queries.push(new URL(path, 'http://x').searchParams);
    const items = pages[queries.length - 1] ?? [];
    if (queries.length >= pages.length) ended();
    const body = { success: true, message: '', data: { items, total: items.length } };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  return { queries, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
}

test('logs tail prints the last entries, oldest first, and then each new one once', async () => {
  const stop = new AbortController();
  const pages = [[entry(2), entry(1)], [entry(2), entry(1)], [entry(4), entry(3), entry(2)], []];
  const { queries, env } = await startLogServer(pages, () => stop.abort());
  const args = ['logs', 'tail', '--lines', '2', '--interval', '0.1', '--json'];
  const { code, stdout } = await runCommand(args, { env, signal: stop.signal });
  const printed = stdout.toString().trim().split('\n');
  expect(printed.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2, 3, 4]);
  expect(code).toBe(1);
  expect(queries.map((query) => query.get('start'))).toEqual([
    '0',
    String(1_795_000_002 - 60),
    String(1_795_000_002 - 60),
    String(1_795_000_004 - 60),
  ]);
});

test('logs tail prints lines without control characters, and filters by a keyword', async () => {
  const { queries, env } = await startLogServer([[entry(1, { task_id: 'task_1' })]]);
  const { code, stdout } = await runCommand(['logs', 'tail', 'voxa', '--no-follow', '-n', '3'], { env });
  expect([code, stdout.toString()]).toEqual([
    0,
    '2026-11-18T10:26:41Z  req_1  phone\\u001b[31m  voxa-v2  completed  €0.52  task_1\n'.replace(
      '2026-11-18T10:26:41Z',
      `${new Date(1_795_000_001_000).toISOString().slice(0, 19)}Z`,
    ),
  ]);
  expect(Object.fromEntries(queries[0] ?? [])).toEqual({ keyword: 'voxa', page_size: '3', start: '0' });
});

test.each([
  [['--interval', '0'], '--interval must be between 0.1 and 3600 seconds.'],
  [['--interval', 'x'], '--interval must be between 0.1 and 3600 seconds.'],
  [['--lines', '0'], '--lines must be a whole number above 0.'],
])('logs tail %j is refused', async (args, message) => {
  const { env } = await startLogServer([]);
  const { code, stderr } = await runCommand(['logs', 'tail', ...args], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
