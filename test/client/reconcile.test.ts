import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { csvRows } from '../../client/commands/admin/csv-rows.ts';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'unigate-reconcile-'));
const file = join(folder, 'bill.csv');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const entry = (id: string | null, cost: number | null, more: object = {}) => ({
  request_id: `req_${id}`,
  upstream_id: id,
  cost,
  unit: 'seconds',
  units: 5,
  completion_tokens: 100,
  ...more,
});

async function reconcile(bill: string, entries: object[], ...args: string[]) {
  const queries: URLSearchParams[] = [];
  const url = await startStubServer(({ url: path = '' }, response) => {
    queries.push(new URL(path, 'http://x').searchParams);
    response.setHeader('content-type', 'application/jsonl');
    response.end(entries.map((one) => `${JSON.stringify(one)}\n`).join(''));
  });
  writeFileSync(file, bill);
  const env = { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' };
  const { code, stdout, stderr } = await runCommand(['admin', 'reconcile', file, '--json', ...args], { env });
  return { code, stderr, queries, found: code === 2 ? undefined : (JSON.parse(stdout.toString()) as object) };
}

const columns = ['--columns', 'id=task,amount=fee'];

describe('reconcile', () => {
  test('finds a bill that equals the log', async () => {
    const bill = 'task,fee\nup-1,40\nup-2,9.5\nup-2,0.2\n';
    const entries = [entry('up-1', 40), entry('up-2', 10), entry(null, null), entry('up-3', null)];
    const { code, found, queries } = await reconcile(bill, entries, ...columns, '--channel', 'eu');
    expect([code, found]).toEqual([0, { billed: 49.7, logged: 50, equal: 2, different: 0, differences: [] }]);
    expect(queries[0]?.get('channel')).toBe('eu');
  });

  test('lists what differs, and fails', async () => {
    const bill = '"the task",fee,tokens\r\n"up-1",3,100\r\nup-2,4,90\r\nup-9,1,1\r\n';
    const entries = [entry('up-1', 4), entry('up-2', 4), entry('up-3', 7)];
    const names = ['--columns', 'id=the task,amount=fee,units=tokens'];
    const { code, found, stderr } = await reconcile(bill, entries, ...names);
    expect(code).toBe(1);
    expect(stderr).toContain('The bill differs from the log.');
    expect(found).toMatchObject({
      equal: 0,
      different: 4,
      differences: [
        { problem: 'other amount', id: 'up-1', request: 'req_up-1', bill: 3, log: 4 },
        { problem: 'other units', id: 'up-2', bill: 90, log: 100 },
        { problem: 'missing in bill', id: 'up-3', log: 7 },
        { problem: 'missing in log', id: 'up-9', bill: 1 },
      ],
    });
  });

  test('converts the amounts of the bill', async () => {
    const rate = ['--quota-per-amount', '500000'];
    const { code } = await reconcile('task,fee\nup-1,0.00008\n', [entry('up-1', 40)], ...columns, ...rate);
    expect(code).toBe(0);
  });

  test.each([
    ['without columns', 'task,fee\n', [], '--columns is required: id=NAME,amount=NAME.'],
    [
      'with unknown columns',
      'task,fee\n',
      ['--columns', 'id=task,cost=fee'],
      '--columns must be id=NAME,amount=NAME and optionally units=NAME.',
    ],
    [
      'of a bill without such a column',
      'job,fee\n',
      columns,
      'the bill has no column task; it has job, fee.',
    ],
    [
      'of a bill with a text as amount',
      'task,fee\nup-1,free\n',
      columns,
      'row 2 of the bill has no number in the column fee.',
    ],
    ['of an empty bill', '', columns, 'bill.csv is empty.'],
    [
      'of a bill that ends in a quoted field',
      'task,"fee',
      columns,
      'the last quoted field of the file does not end.',
    ],
  ])('is refused %s', async (_words, bill, args, message) => {
    const { code, stderr } = await reconcile(bill, [], ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

test('rows of CSV are read across chunks', async () => {
  async function* chunks() {
    yield '\uFEFFa,"b ""';
    yield 'x"" y",c\r\n\r\n"1\n2';
    yield '",,3';
  }
  const rows: string[][] = [];
  for await (const row of csvRows(chunks())) rows.push(row);
  expect(rows).toEqual([
    ['a', 'b "x" y', 'c'],
    ['1\n2', '', '3'],
  ]);
});
