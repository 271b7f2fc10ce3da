import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { generateKey, hashKey } from '../../server/store/keys.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { runCommand } from './terminal.ts';

let gateway: TestGateway;
let client: Unigate;
let env: Record<string, string>;
beforeAll(async () => {
  gateway = await startTestGateway();
  client = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key });
  env = { UNIGATE_BASE_URL: gateway.url, UNIGATE_API_KEY: gateway.key };
});
afterAll(() => gateway.close());

const admin = (...args: string[]) => runCommand(['admin', ...args], { env });

/** Runs a command that must succeed. Returns its output. */
async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await admin(...args);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout.toString();
}

/** Runs a command with `--json` and validates its output against the data of a response in the contract. */
async function dataOf<Data>(reply: string, ...args: string[]): Promise<Data> {
  const data: unknown = JSON.parse(await printed(...args, '--json'));
  const pointer = `#/components/schemas/${reply}/properties/data`;
  expect(schemaProblems({ pointer, schema: {} }, data)).toEqual([]);
  return data as Data;
}

interface Page {
  items: { id: number; name: string; key: string }[];
  total: number;
}

describe('users', () => {
  test('are created, listed and updated', async () => {
    const { id } = await dataOf<{ id: number }>('UserReply', 'users', 'create', 'Ada', '--json');
    const { items } = await dataOf<Page>('UserListReply', 'users', 'list', '--name', 'ada');
    expect(items).toMatchObject([{ id, name: 'Ada' }]);
    expect(await printed('users', 'update', String(id), '--disable')).toMatch(
      new RegExp(`^id +name .*\\n${id} +Ada +default +user +yes +0 +no +0 +0 `),
    );
    expect(await printed('users', 'create', 'Bob', '--role', 'admin')).toMatch(/^\d+\n$/);
    await dataOf('GroupListReply', 'groups', 'list');
  });

  test('the last admin cannot be disabled', async () => {
    const list = await client.admin.users.list();
    for (const { id, role } of list.items.filter((user) => user.id !== 1 && user.role === 'admin'))
      expect(await admin('users', 'update', String(id), '--role', 'user'), role).toMatchObject({ code: 0 });
    expect(await admin('users', 'update', '1', '--disable')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(403)'),
    });
  });
});

describe('prices explain', () => {
  const video = { prompt: 'A kite over the sea.', seconds: '5', size: '1080p' };
  let folder: string;
  let file: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unigate-prices-'));
    file = join(folder, 'video.json');
    await writeFile(file, JSON.stringify(video));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const explain = ['prices', 'explain', '--model', 'gamma3.0-video', '--body'];

  test('prints the calculation of a request and of a usage', async () => {
    const lines = (await printed(...explain, file, '--usage', 'seconds=4')).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^operation +createVideo$/),
        expect.stringMatching(/^resolution +1080P$/),
        expect.stringMatching(/^reservation +5$/),
        expect.stringMatching(/^settlement +4$/),
        'reservation: 5 seconds x 1 x 1 = 5',
        'settlement: 4 seconds x 1 x 1 = 4',
        expect.stringMatching(/^cost at \S+: unknown$/),
      ]),
    );
  });

  test('states figures that are not plausible', async () => {
    const text = await printed(...explain, file, '--usage', 'seconds=4000');
    expect(text).toContain('settlement: not plausible, so charged as the upper bound: units');
  });

  test('prints the settlement of a report, and the fields of it that are ignored', async () => {
    const usage = ['--usage', 'seconds=6', '--reported'];
    const lines = (await printed(...explain, file, ...usage, 'resolution=4k,ratio=9:16,audio=true')).split(
      '\n',
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^settlement +6$/),
        expect.stringMatching(/^ignored +resolution$/),
      ]),
    );
    for (const wrong of ['fps=30', 'audio=no', 'resolution=', 'resolution'])
      expect(await admin(...explain, file, ...usage, wrong)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--reported must be fields'),
      });
  });

  test('prints all data as JSON, and reads the body from standard input', async () => {
    const data = await dataOf('ExplainPriceReply', ...explain, file, '--operation', '/v1/video/generations');
    expect(data).toMatchObject({ operation: 'createGenericVideo', settlement: null });
    const input = await runCommand(['admin', ...explain, '-', '--group', 'default', '--token', '1'], {
      env,
      stdin: JSON.stringify(video),
    });
    expect(input).toMatchObject({ code: 0, stderr: '' });
  });

  test('fails with the message of the gateway, or without the file', async () => {
    await writeFile(file, JSON.stringify({ ...video, seconds: '99' }));
    expect(await admin(...explain, file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('body.seconds: '),
    });
    expect(await admin(...explain, join(folder, 'none.json'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('none.json'),
    });
  });
});

test('wallets are opened, granted and listed', async () => {
  const { id } = await dataOf<{ id: number }>('UserReply', 'users', 'create', 'Wanda');
  const user = String(id);
  expect(await admin('wallets', 'show', user)).toMatchObject({ code: 1 });
  expect(await dataOf('WalletReply', 'wallets', 'open', user)).toMatchObject({ user_id: id, balance: 0 });
  const paid = ['wallets', 'grant', user, '--amount', '500', '--reason', 'March', '--reference', 'p1'];
  const grant = await dataOf('WalletGrantReply', ...paid);
  expect(grant).toMatchObject({ amount: 500, balance: 500, reference: 'p1' });
  expect(await dataOf('WalletGrantReply', ...paid)).toEqual(grant);
  expect(await printed('wallets', 'grant', user, '--amount=-100', '--reason', 'twice')).toMatch(
    /^grant +\d+\nuser +\d+\namount +-100\nreference +\S{36}\ndebt_settled +0\nbalance +400\ndebt +0\n$/,
  );
  expect(await printed('wallets', 'show', user)).toMatch(
    /^user +\d+\nbalance +400\nreserved +0\nused +0\ndebt +0\nopened +\S+ \S+\n$/,
  );
  const page = await admin('wallets', 'grants', user, '--page-size', '2');
  expect(page.stdout.toString()).toMatch(/^id +time .*\n.* -100 .*\n.* 500 +p1 +March +0 +500 +0 *\n$/);
  expect(page.stderr).toMatch(/^next page: --after \d+\n$/);
});

describe('keys', () => {
  test('are created, listed, updated and revoked', async () => {
    const made = await admin('keys', 'create', 'phone', '--user', '1', '--models', 'alpha3-tts-flash');
    const key = made.stdout.toString().trim();
    expect(made.stderr).toMatch(/^key \d+\nIts quota is 0: .*--unlimited.*\n$/);
    const id = /^key (\d+)$/m.exec(made.stderr)?.[1] ?? '';
    const granted = ['keys', 'grant', id, '--amount', '5000', '--reason', 'March'];
    expect(await dataOf('GrantReply', ...granted)).toMatchObject({ amount: 5_000, remain_quota: 5_000 });
    expect(await printed('keys', 'list', '--name', 'phone')).toMatch(
      new RegExp(
        `^id +user .*\\n${id} +\\S+ \\(1\\) +phone +\\S+ +- +default +enabled +5000 +0 +0 +never +create keys\\n$`,
      ),
    );
    await new Unigate({ baseUrl: gateway.url, apiKey: key }).models.list();
    expect(await printed('keys', 'update', id, '--disable', '--requests', '9')).toMatch(/ disabled /);
    await expect(new Unigate({ baseUrl: gateway.url, apiKey: key }).models.list()).rejects.toThrow('key');
    await printed('keys', 'revoke', id);
    expect(await admin('keys', 'revoke', id)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^unigate: error \(404\): .*\[request req_\w+\]\n$/),
    });
  });

  test('store the values of all options', async () => {
    const options = ['--addresses', '192.0.2.7, 10.0.0.0/8', '--ends', '2099-01-31', '--requests', '60'];
    const create = ['keys', 'create', 'limited', '--user', '1', '--quota', '7', '--sockets', '2', ...options];
    const made = await dataOf<{ id: number; key: string }>('AdminTokenReply', ...create);
    expect(made).toMatchObject({
      key: expect.stringMatching(/^sk-/),
      remain_quota: 7,
      allow_ips: '192.0.2.7\n10.0.0.0/8',
      expired_time: Date.UTC(2099, 0, 31) / 1_000,
      requests_per_minute: 60,
      sockets: 2,
    });
    const change = ['--ends', 'never', '--unlimited', '--addresses=', '--sockets', 'default'];
    expect(await dataOf('AdminTokenReply', 'keys', 'update', String(made.id), ...change)).toMatchObject({
      allow_ips: '',
      expired_time: -1,
      unlimited_quota: true,
    });
  });

  test('get admin access and lose the right to create keys', async () => {
    const made = await dataOf<{ id: number; key: string }>(
      'TokenCreatedReply',
      'keys',
      'create',
      'ops',
      '--admin',
    );
    expect(made).toMatchObject({ admin: true, unlimited_quota: true, create_keys: true });
    const ops = new Unigate({ baseUrl: gateway.url, apiKey: made.key });
    expect((await ops.admin.users.list()).total).toBeGreaterThan(0);
    expect(await printed('keys', 'list', '--name', 'ops')).toMatch(
      / unlimited +0 +0 +never +admin, create keys\n$/,
    );
    const id = String(made.id);
    expect(await printed('keys', 'update', id, '--no-admin', '--no-create-keys')).toMatch(/ never *\n$/);
    await expect(ops.admin.users.list()).rejects.toThrow('scope admin');
    await expect(ops.tokens.create({ name: 'more', remain_quota: 0 })).rejects.toThrow('may not create keys');

    const other = await dataOf<{ admin: boolean; create_keys: boolean }>(
      'AdminTokenReply',
      'keys',
      'create',
      'bot',
      '--user',
      '1',
      '--admin',
      '--no-create-keys',
    );
    expect(other).toMatchObject({ admin: true, create_keys: false, unlimited_quota: true });
    expect(await admin('keys', 'create', 'bot', '--admin', '--quota', '5')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('admin'),
    });
  });

  test('a name can neither move the cursor nor start a line', async () => {
    // Earlier versions of the gateway accepted such names.
    const { store } = gateway.gateway;
    const token = { userId: 1, name: 'a\nb\u202e', keyHash: hashKey(generateKey()), keyHint: '***', now: 1 };
    await store.run('createToken', token);
    const text = await printed('keys', 'list');
    expect(text).toContain('a\\u000ab\\u202e');
    expect(text).not.toContain('\u202e');
  });

  test('a page shows how to get the next one', async () => {
    const { stderr } = await admin('keys', 'list', '--page-size', '1');
    expect(stderr).toMatch(/^1 to 1 of \d+; next page: --page 2\n$/);
    expect(await admin('keys', 'list', '--page', '900')).toMatchObject({
      stdout: Buffer.alloc(0),
      stderr: expect.stringMatching(/^No entries on this page; there are \d+ in total\.\n$/),
    });
    expect((await admin('keys', 'list', '--page-size', '1', '-q')).stderr).toBe('');
  });
});

test('manages budgets', async () => {
  const user = (await printed('users', 'create', 'Grace')).trim();
  const id = (
    await printed(
      'budgets',
      'create',
      '100',
      '--user',
      user,
      '--period',
      'daily',
      '--hard',
      '--thresholds',
      '50, 90',
    )
  ).trim();
  const { items } = await dataOf<Page>('BudgetListReply', 'budgets', 'list', '--user', user);
  expect(items).toMatchObject([
    { id: Number(id), amount: 100, hard: true, thresholds: [50, 90], time_zone: 'UTC' },
  ]);
  expect(await printed('budgets', 'update', id, '--amount', '200', '--soft')).toContain('200');
  expect(await admin('budgets', 'update', id)).toMatchObject({ code: 2 });
  expect(await admin('budgets', 'create', '1', '--user', user)).toMatchObject({ code: 2 });
  await printed('budgets', 'delete', id);
});

test('manages members', async () => {
  const user = (await printed('users', 'create', 'Hopper Ltd')).trim();
  const of = ['--user', user];
  const id = (await printed('members', 'create', 'Ada', ...of, '--role', 'developer')).trim();
  const { items } = await dataOf<Page>('MemberListReply', 'members', 'list', ...of);
  expect(items).toMatchObject([{ id: Number(id), name: 'Ada', role: 'developer' }]);
  expect(await printed('members', 'update', id, ...of, '--role', 'billing')).toContain('billing');
  expect(await admin('members', 'update', id, ...of)).toMatchObject({ code: 2 });
  expect(await admin('members', 'create', 'Bob', ...of, '--role', 'admin')).toMatchObject({ code: 2 });
  await printed('members', 'delete', id, ...of);
  expect(await admin('members', 'delete', id, ...of)).toMatchObject({ code: 1 });
  expect((await admin('figures', '--by', 'member', '--member', id)).stderr).toContain('0 requests');
});

test('manages callback endpoints of the operator', async () => {
  const url = 'https://app.example/events';
  expect(await printed('endpoints', 'create', url, '--events', 'quota.low', '--threshold', '5')).toMatch(
    /^whsec_/,
  );
  const { items } = await dataOf<Page>('EndpointListReply', 'endpoints', 'list');
  const id = String(items.at(-1)?.id);
  expect(items.at(-1)).toMatchObject({ url, events: ['quota.low'], quota_threshold: 5 });
  expect(await printed('endpoints', 'rotate', id, '--overlap', '0')).toMatch(/^whsec_/);
  expect(await printed('endpoints', 'test', id)).toContain('ping');
  expect(await printed('endpoints', 'deliveries', id)).toContain('ping');
  await printed('endpoints', 'delete', id);
  expect(await admin('endpoints', 'create', url, '--events', 'all')).toMatchObject({ code: 2 });
  expect(await admin('endpoints', 'create', url, '--events', 'quota.low')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--threshold'),
  });
});

test('lists, cancels and settles tasks and resends deliveries', async () => {
  const prompt = 'A paper boat. [[slow]]';
  const { id } = await client.videos.create({ model: 'gamma3.0-video-prime', prompt });
  const { items } = await dataOf<{ items: { id: string }[] }>(
    'AdminTaskListReply',
    'tasks',
    'list',
    '--id',
    id,
  );
  expect(items).toMatchObject([{ id, model: 'gamma3.0-video-prime' }]);
  const failed = ['--outcome', 'failed', '--reason', 'lost', '--message', 'It is lost.'];
  expect(await printed('tasks', 'settle', id, ...failed)).toMatch(
    new RegExp(`^id .*\\n${id} .* failed .* task_lost\\n$`),
  );
  expect(await printed('tasks', 'show', id)).toMatch(/^time .*\n.* created\n[^]* failed\n$/);
  await dataOf('AdminTaskDetailsReply', 'tasks', 'show', id);
  expect(await admin('tasks', 'cancel', id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('(400)'),
  });
  await dataOf('DeliveryListReply', 'deliveries', 'list', '--state', 'open');
  expect(await admin('deliveries', 'resend', '4711')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('(404)'),
  });
});

test('searches the log', async () => {
  await client.embeddings.create({ model: 'theta-embedding-1', input: 'Hi.' });
  const { items } = await dataOf<Page>('LogSearchReply', 'logs', 'search', '--keyword', 'theta');
  expect(items).toHaveLength(1);
  expect(await printed('logs', 'search', '--keyword', 'theta')).toMatch(/^time .*\n.*theta-embedding-1.*\n$/);
  expect(await admin('logs', 'search', '--keyword', 'nothing-of-this')).toMatchObject({
    code: 0,
    stderr: 'No entries.\n',
  });
});

describe('the ledger', () => {
  const embed = () => client.embeddings.create({ model: 'theta-embedding-1', input: 'Hi.' });

  test('is audited', async () => {
    await embed();
    expect(await dataOf('AuditReply', 'audit')).toMatchObject({ problems: [], more: false });
    expect(await printed('audit')).toMatch(/^keys +\d+\ngranted /);
  });

  test('explains a charge and refunds it once', async () => {
    await embed();
    const search = ['logs', 'search', '--keyword', 'theta', '--since', '1h'];
    const { items } = await dataOf<{ items: { request_id: string }[] }>('LogSearchReply', ...search);
    const id = items[0]?.request_id ?? '';
    expect(await dataOf('ChargeReply', 'explain', id)).toMatchObject({
      entry: { request_id: id },
      refund: null,
    });
    const explained = await printed('explain', id);
    expect(explained).toMatch(new RegExp(`^request +${id}\n`));
    expect(explained).toMatch(
      /\ngroup +default\n[^]*\n(\d+) tokens x 1 x 1 = \1\nreserved \d+ by .*\ncharged \1\n$/,
    );
    const refund = ['refund', id, '--amount', '1', '--reason', 'noise'];
    const { code, stdout, stderr } = await admin(...refund);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('no limit') });
    expect(stdout.toString()).toMatch(/\nrefunded +1\n/);
    expect(await printed('explain', id)).toMatch(/\nrefunded 1: noise\nnet (\d+) - 1 = \d+\n$/);
    expect(await admin(...refund)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('refunded already'),
    });
  });

  test('has metrics', async () => {
    await embed();
    await dataOf('FiguresReply', 'figures', '--by', 'model,hour', '--since', '7d');
    expect(await printed('figures', '--by', 'model', '--model', 'theta-embedding-1')).toMatch(
      /^model +requests .*\ntheta-embedding-1 +\d+ /,
    );
  });

  test('is exported to standard output and to a file', async () => {
    await embed();
    const lines = (await printed('logs', 'export', '--model', 'theta-embedding-1')).trimEnd().split('\n');
    for (const line of lines) {
      const entry: unknown = JSON.parse(line);
      expect(schemaProblems({ pointer: '#/components/schemas/ExportedEntry', schema: {} }, entry)).toEqual(
        [],
      );
    }
    const folder = await mkdtemp(join(tmpdir(), 'unigate-export-'));
    try {
      const file = join(folder, 'log.csv');
      expect(await printed('logs', 'export', '--model', 'theta-embedding-1', '-o', file)).toBe('');
      const csv = (await readFile(file, 'utf8')).trimEnd().split('\r\n');
      expect(csv[0]).toMatch(/^id,request_id,/);
      expect(csv).toHaveLength(lines.length + 1);
      expect(await admin('logs', 'export', '--user', '0', '-o', join(folder, 'none.csv'))).toMatchObject({
        code: 1,
      });
      expect(await readdir(folder)).toEqual(['log.csv']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

test('lists, tests, disables and enables channels', async () => {
  const { items } = await dataOf<Page>('ChannelListReply', 'channels', 'list');
  const name = items.find((channel) => channel.name.includes('embeddings'))?.name ?? items[0]?.name ?? '';
  expect(await dataOf('ChannelTestReply', 'channels', 'test', name)).toMatchObject({ ok: true });
  expect(await printed('channels', 'disable', name, '--reason', 'at noon')).toMatch(
    / disabled .* at noon\n$/,
  );
  expect(await dataOf('ChannelReply', 'channels', 'enable', name)).toMatchObject({ disabled: null });
});

test('reloads the configuration', async () => {
  expect(await dataOf('ReloadReply', 'reload', '--dry-run')).toMatchObject({ applied: false });
  expect(await printed('reload')).toMatch(/^file +\S+\napplied +yes\n/);
});

test('lists changes', async () => {
  expect(await printed('changes', '--action', 'reloadConfiguration')).toMatch(
    /^time +by +cause +key +action +subject +details\n.+ root +api +\d+ +reloadConfiguration /,
  );
  await dataOf('ChangeListReply', 'changes', '--since', '1h', '--until', '2099-01-01');
});

describe('an error is reported', () => {
  test('for an unknown key', async () => {
    const key = 'sk-nobody-has-this-key';
    const { code, stdout, stderr } = await admin('keys', 'list', '--key', key);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^unigate: error \(401\): .+\[request req_\w+\]\n$/);
    expect(stderr).not.toContain(key);
  });

  test('for a key without admin access', async () => {
    const user = (await printed('users', 'create', 'Eve')).trim();
    const key = (await printed('keys', 'create', 'hers', '--user', user)).trim();
    const { code, stderr } = await admin('users', 'list', '--key', key);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('(403)') });
  });

  test('for an invalid page', async () => {
    const { code, stderr } = await admin('keys', 'list', '--page', '0');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('(400): p') });
  });
});
