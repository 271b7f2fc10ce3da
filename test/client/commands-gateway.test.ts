import { afterAll, beforeAll, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
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

/** Runs a command that must succeed. Returns its output. */
async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args, { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.toString();
}

test('chat, embed and logs tail', async () => {
  expect(await printed('chat', 'When is low tide?', '--max-tokens', '64')).toMatch(/\w.*\n$/s);
  const vector: unknown = JSON.parse(await printed('embed', 'Low tide is at noon.', '--dimensions', '8'));
  expect(vector).toHaveLength(8);
  await expect
    .poll(() => printed('logs', 'tail', '--no-follow', '-n', '2'))
    .toMatch(/ iota-chat-1 .*\n.* theta-embedding-1 /);
});

test('tasks of every format are shown, listed and canceled', async () => {
  const prompt = 'A paper boat.';
  const created = {
    videos: (await client.videos.create({ model: 'gamma3.0-video', prompt, seconds: 5 })).id,
    generic: (await client.videoGenerations.create({ model: 'gamma3.0-video', prompt })).id,
    native: client.models3d.idOf(await client.models3d.create({ model: 'theta-3d', input: { prompt } })),
    official: (
      await client.officialVideos.create({
        model: 'epsilon-delta-2-0-260128',
        content: [{ type: 'text', text: prompt }],
      })
    ).id,
    music: client.lyrics.idOf(await client.lyrics.create({ prompt })),
    image: client.imageJobs.idOf(await client.imageJobs.create({ prompt })),
  };
  for (const [format, id] of Object.entries(created))
    expect(await printed('tasks', 'show', id)).toMatch(new RegExp(`^format +${format}\\n[^]*${id}`));
  expect(JSON.parse(await printed('tasks', 'show', created.videos, '--json'))).toMatchObject({
    id: created.videos,
    object: 'video',
  });
  const listed = await printed('tasks', 'list');
  for (const id of Object.values(created)) expect(listed).toContain(id);

  for (const id of [created.videos, created.image])
    expect(await runCommand(['tasks', 'cancel', id], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot be canceled: the API format \w+ has no operation for it\.\n$/),
    });
  const ended = await client.officialVideos.waitFor(created.official);
  expect(await runCommand(['tasks', 'cancel', ended.id], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('its state is completed, not queued.'),
  });
  expect((await client.officialVideos.retrieve(ended.id)).status).toBe('succeeded');
});

test('members are added, changed, listed and removed', async () => {
  const id = (await printed('members', 'create', 'Ada', '--role', 'developer')).trim();
  expect(await printed('members', 'list')).toMatch(new RegExp(`^${id} +Ada +developer +0 keys `, 'm'));
  expect(await printed('members', 'update', id, '--role', 'billing')).toContain('billing');
  expect(JSON.parse(await printed('members', 'list', '--json'))).toMatchObject([{ role: 'billing' }]);
  expect(await printed('members', 'delete', id)).toBe(`${id}\n`);
  for (const args of [
    ['create', 'Bob'],
    ['update', id],
    ['delete', 'Ada'],
    ['create', 'Bob', '--role', 'admin'],
  ])
    expect(await runCommand(['members', ...args], { env })).toMatchObject({ code: 2 });
  expect(await runCommand(['members', 'delete', id], { env })).toMatchObject({ code: 1 });
});

test('sub-accounts are created with a key, changed and listed', async () => {
  const user = await client.admin.users.create({ name: 'Hopper Ltd' });
  await client.admin.users.wallets.open(user.id);
  const { key } = await client.admin.tokens.create(user.id, { name: 'owner', unlimited_quota: true });
  const run = (...args: string[]) =>
    runCommand(['accounts', ...args], { env: { ...env, UNIGATE_API_KEY: key } });
  const id = (await run('create', 'Paris office')).stdout.toString().trim();
  expect((await run('list')).stdout.toString()).toMatch(
    new RegExp(`^${id} +Paris office +default +enabled +0 keys +0 `, 'm'),
  );
  const created = await run('key', id, '--name', 'web');
  expect(created).toMatchObject({ code: 0, stderr: expect.stringMatching(/^key \d+\n$/) });
  const account = new Unigate({ baseUrl: gateway.url, apiKey: created.stdout.toString().trim() });
  expect((await account.me.retrieve()).user).toMatchObject({ id: Number(id), name: 'Paris office' });
  expect((await run('key', id, '--name', 'trial', '--quota', '500')).code).toBe(0);
  expect(await account.tokens.list()).toMatchObject({ items: [{ name: 'trial', remain_quota: 500 }, {}] });
  const changed = await run('update', id, '--name', 'Lyon', '--disable');
  expect(changed.stdout.toString()).toMatch(/ Lyon +default +disabled +2 keys /);
  const enabled = await run('update', id, '--enable', '--json');
  expect(JSON.parse(enabled.stdout.toString())).toMatchObject({ name: 'Lyon', disabled: false });
  const admin = await printed('admin', 'users', 'list', '--parent', String(user.id), '--json');
  expect(JSON.parse(admin)).toMatchObject({ items: [{ id: Number(id), parent_id: user.id }], total: 1 });
  for (const args of [
    ['update', id],
    ['update', id, '--enable', '--disable'],
    ['update', 'Paris', '--enable'],
    ['key', id],
    ['key', id, '--name', 'web', '--quota', 'all'],
  ])
    expect(await run(...args)).toMatchObject({ code: 2 });
  expect(await run('update', String(user.id), '--disable')).toMatchObject({ code: 1 });

  const keys = JSON.parse((await run('keys', id, '--json')).stdout.toString()) as {
    id: number;
    name: string;
  }[];
  expect(keys).toMatchObject([{ name: 'trial' }, { name: 'web' }]);
  const web = String(keys[1]?.id);
  expect((await run('keys', id)).stdout.toString()).toMatch(
    new RegExp(`^${web} +web +sk-\\*+\\w+ +\\w+ +no limit +0 used `, 'm'),
  );
  const disabled = await run('update-key', web, '--account', id, '--name', 'old', '--disable');
  expect(disabled.stdout.toString()).toMatch(/ old +sk-\*+\w+ +disabled /);
  expect(await run('delete-key', web, '--account', id)).toMatchObject({ code: 0 });
  expect((await run('keys', id)).stdout.toString()).not.toContain('old');
  expect(await run('delete-key', web, '--account', id)).toMatchObject({ code: 1 });
  for (const args of [
    ['delete-key', web],
    ['update-key', web, '--disable'],
    ['update-key', web, '--account', id],
    ['keys', 'Paris'],
  ])
    expect(await run(...args)).toMatchObject({ code: 2 });
});

test('the statement of a sub-account shows the charges that the wallet of its customer paid', async () => {
  const user = await client.admin.users.create({ name: 'Hopper Ltd' });
  await client.admin.users.wallets.grant(user.id, { amount: 1_000, reference: 'first', reason: 'Top-up' });
  const { id } = await client.admin.users.create({ name: 'Paris office', parent_id: user.id });
  const { key } = await client.admin.tokens.create(id, { name: 'web', unlimited_quota: true });
  const account = new Unigate({ baseUrl: gateway.url, apiKey: key });
  await account.speech.create({ model: 'voxa-v3-flash', voice: 'voxanna', input: 'Ten letters' });
  const { items } = await account.me.log.list({});
  const month = new Date().toISOString().slice(0, 7);
  const { stdout } = await runCommand(['statement', month], { env: { ...env, UNIGATE_API_KEY: key } });
  expect(items[0]?.quota).toBeGreaterThan(0);
  const charges = new RegExp(`^charges +0 +0 +${items[0]?.quota}$`, 'm');
  expect(stdout.toString()).toMatch(charges);

  const owner = await client.admin.tokens.create(user.id, { name: 'owner', unlimited_quota: true });
  const run = (...args: string[]) =>
    runCommand(['statement', ...args], { env: { ...env, UNIGATE_API_KEY: owner.key } });
  expect((await run(month, '--account', String(id))).stdout.toString()).toMatch(charges);
  expect((await run('--account', String(id))).stdout.toString()).toMatch(new RegExp(`^${month} +open`));
  const csv = await run(month, '--account', String(id), '-o', '-');
  expect(csv.stdout.toString()).toMatch(/^line,day,/);
  expect(await run(month, '--account', '999999999')).toMatchObject({ code: 1 });
  expect(await run(month, '--account', 'Paris')).toMatchObject({ code: 2 });
});

test('an unknown task', async () => {
  const { code, stderr } = await runCommand(['tasks', 'show', 'task_00000000000000000000000000000000'], {
    env,
  });
  expect([code, stderr]).toEqual([1, 'unigate: There is no task task_00000000000000000000000000000000.\n']);
  expect(await runCommand(['tasks', 'show', '..'], { env })).toMatchObject({ code: 1 });
});

test('statement lists the months, prints one, and saves it', async () => {
  const month = new Date().toISOString().slice(0, 7);
  expect(await printed('statement')).toMatch(new RegExp(`^${month} +open\\n$`));
  expect(await printed('statement', month)).toMatch(
    /^ +balance +debt +charged\nopening +0 +0\n[^]*closing +0 +0\n$/,
  );
  expect(JSON.parse(await printed('statement', month, '--json'))).toMatchObject({ month, final: false });
  expect(await printed('statement', month, '-o', '-')).toMatch(/^line,day,/);
  expect(await runCommand(['statement', '2026-13'], { env })).toMatchObject({ code: 1 });
  expect(await printed('admin', 'statements', 'list', '1')).toContain(month);
  expect(await printed('admin', 'statements', 'export', '1', '--month', month)).toMatch(/^line,day,/);
});
