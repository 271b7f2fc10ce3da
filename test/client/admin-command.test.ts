import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commands } from '../../client/commands/admin/commands.ts';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

const env = { UNIGATE_API_KEY: 'sk-secret', UNIGATE_BASE_URL: 'http://127.0.0.1:9' };
const admin = (args: string[], more: Parameters<typeof runCommand>[1] = { env }) =>
  runCommand(['admin', ...args], more);

describe('an invalid command line', () => {
  test.each([
    [[], 'A command is missing.'],
    [['sing'], "Unknown command 'sing'. Commands: users, "],
    [['keys'], 'A command is missing. Commands: list, '],
    [['keys', 'sing'], "Unknown command 'sing'. Commands: list, "],
    [['constructor'], "Unknown command 'constructor'."],
    [['keys', 'list', 'all'], "Too many arguments for 'list'. Expected 0 arguments but got 1."],
    [['keys', 'revoke'], "Missing required argument 'id'."],
    [['keys', 'revoke', 'seven'], 'ID must be a whole number.'],
    [['keys', 'revoke', '7', '8'], "Too many arguments for 'revoke'. Expected 1 argument but got 2."],
    [['keys', 'create', ' ', '--user', '1'], 'keys create requires one NAME.'],
    [['keys', 'create', 'n', '--quota', 'much'], '--quota must be a whole number.'],
    [['keys', 'grant', '7', '--amount', '5'], "Required option '--reason <text>' not specified."],
    [['keys', 'grant', '7', '--amount', '-5'], 'write a value that starts with a dash as --amount=-5.'],
    [['keys', 'update', '7'], 'keys update: at least one option is required.'],
    [['keys', 'update', '7', '--enable', '--disable'], '--enable and --disable cannot be combined.'],
    [['keys', 'update', '7', '--admin', '--no-admin'], '--admin and --no-admin cannot be combined.'],
    [['keys', 'list', '--status', 'lost'], 'Allowed choices are enabled, disabled, expired, exhausted.'],
    [['tasks', 'settle', 't', '--reason', 'r'], "Required option '--outcome <outcome>' not specified."],
    [
      ['tasks', 'settle', 't', '--reason', 'r', '--outcome', 'completed'],
      '--outcome completed requires --units.',
    ],
    [
      ['tasks', 'settle', 't', '--reason', 'r', '--outcome', 'failed', '--units', '5'],
      '--units and --url require --outcome completed.',
    ],
    [['prices', 'explain'], "Required option '--body <file>' not specified."],
    [['prices', 'explain', '--body', 'package.json', '--user', 'me'], '--user must be a whole number.'],
    [
      ['prices', 'explain', '--body', 'package.json', '--usage', 'seconds'],
      '--usage must be figures, such as seconds=5,completion_tokens=108000.',
    ],
    [['prices', 'explain', '--body', 'README.md'], '--body must be a JSON object.'],
    [['budgets', 'create', '5', '--user', '2'], "Required option '--period <period>' not specified."],
    [['budgets', 'update', '5'], 'budgets update: --amount, --hard, --soft or --thresholds is required.'],
    [['budgets', 'update', '5', '--hard', '--soft'], '--hard and --soft cannot be combined.'],
    [['statements', 'export', '2'], "Required option '--month <month>' not specified."],
    [['endpoints', 'create', 'https://ops.example', '--events', 'all'], '--events must be among quota.low, '],
    [['deliveries', 'list', '--state', 'queued'], 'Allowed choices are open, delivered, given_up.'],
    [['users', 'update', '2'], 'users update: at least one option is required.'],
    [['users', 'create', 'n', '--role', 'root'], 'Allowed choices are user, admin.'],
    [
      ['keys', 'create', 'n', '--ends', 'soon'],
      '--ends must be a date such as 2026-11-22, or a duration such as 24h.',
    ],
    [['keys', 'list', '--quota', '1'], "Unknown option '--quota'."],
    [['keys', 'list', '--loud'], "Unknown option '--loud'."],
    [['keys', 'list', '--json=yes'], '--json accepts no value.'],
    [['keys', 'list', '--page'], "Option '--page <number>' argument missing."],
    [['audit', '--offline'], '--offline is available only where the gateway is installed'],
    [['backup', 'copy.db'], 'backup is available only where the gateway is installed'],
    [['migrate'], 'migrate is available only where the gateway is installed'],
    [['backup'], "Missing required argument 'file'."],
    [['help', 'sing'], "Unknown command 'sing'."],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await admin(args);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^unigate: .*[.?] See unigate admin --help\.\n$/);
    expect(stderr).toContain(message);
  });

  test('is rejected without a key', async () => {
    const { code, stderr } = await admin(['keys', 'list'], { env: {} });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('UNIGATE_API_KEY') });
  });
});

describe('help', () => {
  test('lists every command and requires no key', async () => {
    for (const args of [['--help'], ['help'], ['-h']]) {
      const { code, stdout, stderr } = await admin(args, { env: {} });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      for (const name of Object.keys(commands)) expect(stdout.toString()).toContain(`\n  ${name}`);
    }
  });

  test.each(Object.entries(commands))('%s has examples and describes its options', async (name, command) => {
    const { code, stdout } = await admin([...name.split(' '), '--help']);
    expect(code).toBe(0);
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) {
      expect(example).toMatch(new RegExp(`^${name}( |$)`));
      expect(stdout.toString()).toContain(`  unigate admin ${example}\n`);
    }
    for (const option of Object.keys(command.options)) expect(stdout.toString()).toContain(`--${option}`);
  });

  test('for a group lists only its commands', async () => {
    const { stdout } = await admin(['keys', '--help']);
    expect(stdout.toString()).toContain('\n  create <name>');
    expect(stdout.toString()).not.toContain('audit');
  });
});

test('options with the same name have the same type in all commands', () => {
  const hasArgument = new Map<string, boolean>();
  for (const { options } of Object.values(commands)) {
    for (const [name, { argument }] of Object.entries(options)) {
      expect(hasArgument.get(name) ?? argument !== undefined, name).toBe(argument !== undefined);
      hasArgument.set(name, argument !== undefined);
    }
  }
});

describe('prints one line and exits with 1 for', () => {
  test('an unreachable gateway', async () => {
    const { code, stdout, stderr } = await admin(['keys', 'revoke', '7']);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^unigate: .+\n$/);
  });

  test('a response that violates the contract', async () => {
    const url = await startStubServer((_, response) => void response.end('<html>sk-secret</html>'));
    const { code, stderr } = await admin(['keys', 'list'], { env: { ...env, UNIGATE_BASE_URL: url } });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^unigate: .+\n$/) });
    expect(stderr).not.toContain('sk-secret');
  });

  test('an export that breaks off, without leaving a file', async () => {
    const url = await startStubServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/jsonl' });
      response.write('{"id":1}\n', () => response.destroy());
    });
    const folder = await mkdtemp(join(tmpdir(), 'unigate-export-'));
    try {
      const options = { env: { ...env, UNIGATE_BASE_URL: url } };
      const into = await admin(['logs', 'export', '-o', join(folder, 'log.jsonl')], options);
      expect(into).toMatchObject({ code: 1, stderr: expect.stringMatching(/^unigate: .+\n$/) });
      expect(await readdir(folder)).toEqual([]);
      const { code, stdout } = await admin(['logs', 'export'], options);
      expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: '{"id":1}\n' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('a signal', async () => {
    const stop = new AbortController();
    const url = await startStubServer(() => stop.abort());
    const options = { env: { ...env, UNIGATE_BASE_URL: url }, signal: stop.signal };
    expect(await admin(['changes'], options)).toMatchObject({ code: 1, stderr: 'unigate: stopped.\n' });
  });
});

test('lists channels with their limits and the use, in the currency of the user', async () => {
  const url = await startStubServer(({ url: path = '' }, response) => {
    const figures = { requests: 4, failures: {}, latency_p95_ms: null, last_failure: null };
    const limits = [
      { limit: 'concurrent_calls', max: 50, used: 2 },
      { limit: 'spend_per_day', max: 5_000_000, used: 1_250_000 },
    ];
    const display = { quota_per_unit: 500_000, currency: 'EUR' };
    const items = [{ name: 'one', state: 'healthy', disabled: null, limits, figures }];
    response.writeHead(200, { 'content-type': 'application/json' });
    const data = path === '/api/me' ? { display } : { items, total: 1 };
    response.end(JSON.stringify({ success: true, message: '', data }));
  });
  const { stdout } = await admin(['channels', 'list'], { env: { ...env, UNIGATE_BASE_URL: url } });
  expect(stdout.toString()).toMatch(/ limits .*\n.* concurrent_calls 2\/50, spend_per_day €2.50\/€10.00 /);
});

test('reports problems of prices and exits with 1', async () => {
  const missing = {
    kind: 'missing_cost',
    setting: 'channels.0',
    problem: 'the channel native has no cost for voxa-v1.',
  };
  const unused = { kind: 'unused_price', setting: 'prices.a', problem: 'no channel serves such a model.' };
  let problems = [unused, missing];
  const url = await startStubServer((_, response) => {
    const body = { success: true, message: '', data: { revision: '5f1c0e9a7b42', problems } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const options = { env: { ...env, UNIGATE_BASE_URL: url } };
  const found = await admin(['prices', 'check'], options);
  expect(found).toMatchObject({ code: 1, stderr: 'unigate: The prices have problems.\n' });
  expect(found.stdout.toString()).toMatch(
    /^kind +setting +problem\nunused_price +prices\.a .*\nmissing_cost +channels\.0 .*\n$/,
  );
  const ignoring = await admin(['prices', 'check', '--ignore-costs', '--json'], options);
  expect(JSON.parse(ignoring.stdout.toString())).toMatchObject({ problems: [unused] });
  expect(ignoring.code).toBe(1);
  problems = [missing];
  expect(await admin(['prices', 'check', '--ignore-costs'], options)).toMatchObject({
    code: 0,
    stderr: 'No problems.\n',
  });
});

test('reports a ledger that does not balance and exits with 1', async () => {
  const problems = [{ subject: 'key 7', problem: 'has 101 left' }];
  const sums = { keys: 1, open: 0, closed: 0, granted: 100, held: 0, leased: 0, spent: 0, left: 101 };
  const url = await startStubServer((_, response) => {
    const debts = { debt: 40, debtors: [{ id: 9, name: 'batch', debt: 40, deleted: true }] };
    const wallets = {
      wallets: 0,
      granted: 0,
      held: 0,
      leased: 0,
      spent: 0,
      refunded: 0,
      balance: 0,
      debt: 0,
    };
    const body = { success: true, message: '', data: { ...sums, ...debts, wallets, problems, more: true } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const options = { env: { ...env, UNIGATE_BASE_URL: url } };
  const printed = await admin(['audit'], options);
  expect(printed).toMatchObject({
    code: 1,
    stderr: 'There are more problems.\nunigate: The ledger does not balance.\n',
  });
  expect(printed.stdout.toString()).toMatch(/^key +name +debt\n9 \(deleted\) +batch +40\n/m);
  expect(printed.stdout.toString()).toMatch(/^subject +problem\nkey 7 +has 101 left\n$/m);
  const json = await admin(['audit', '--json'], options);
  expect(json).toMatchObject({ code: 1, stderr: 'unigate: The ledger does not balance.\n' });
  expect(JSON.parse(json.stdout.toString())).toMatchObject({ problems });
});
