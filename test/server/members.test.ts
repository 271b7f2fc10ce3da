import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { operationIds, operations } from '../../generated/operations.ts';
import { engines } from '../store/engines.ts';
import type { TestGateway } from '../support/gateway.ts';
import { newMember } from '../support/members.ts';
import { newToken, newUser } from '../support/operator.ts';
import { connect } from '../support/socket-client.ts';
import { dataIn, sendTo, startTwoGateways, type TwoGateways } from '../support/two-gateways.ts';

const socketPath = '/v1/realtime?model=alpha3-tts-flash-realtime';
const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Nine char' };

describe.each(engines)('the members of a user on %s', (engine) => {
  let gateways: TwoGateways;
  let target: TestGateway;
  /** Another gateway on PostgreSQL. */
  let other: TestGateway;
  beforeAll(async () => {
    gateways = await startTwoGateways(engine);
    ({ target, other } = gateways);
  });
  afterAll(() => gateways.close());

  const send = (key: string, method: string, path: string, body?: object, at = target) =>
    sendTo(at, key, method, path, body);
  const speak = (key: string, at = target) => send(key, 'POST', '/v1/audio/speech', speech, at);

  /** A customer with an owner key and a member of each role, who has a key. */
  async function customer() {
    const user = await newUser(target);
    const { key: owner } = await newToken(target, user.id, { unlimited_quota: true });
    const memberWithKey = async (role: 'owner' | 'developer' | 'billing') => {
      const member = await newMember(target, user.id, { name: role, role });
      const body = { name: role, unlimited_quota: true, member_id: member.id };
      const created = await send(owner, 'POST', '/api/token/', body);
      expect(created.status, created.text).toBe(200);
      return { member, ...dataIn<{ id: number; key: string; member_id: number }>(created) };
    };
    return {
      user,
      owner,
      partner: await memberWithKey('owner'),
      developer: await memberWithKey('developer'),
      billing: await memberWithKey('billing'),
    };
  }

  test('have the rights of their role', async () => {
    const { user, partner, developer, billing, owner } = await customer();
    for (const [{ key, member }, scopes] of [
      [partner, ['user', 'create_keys']],
      [developer, ['create_keys']],
      [billing, ['user']],
    ] as const) {
      const me = dataIn<object>(await send(key, 'GET', '/api/me'));
      expect(me).toMatchObject({ member: { id: member.id, name: member.role, role: member.role }, scopes });
    }
    expect((await speak(owner)).status).toBe(200);
    expect((await speak(partner.key)).status).toBe(200);
    expect((await speak(developer.key)).status).toBe(200);
    const refused = await speak(billing.key);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('billing');
    const calls = async (key: string) =>
      dataIn<{ items: object[] }>(await send(key, 'GET', '/api/me/log')).items.length;
    expect([await calls(partner.key), await calls(billing.key), await calls(developer.key)]).toEqual([
      3, 3, 1,
    ]);
    const month = new Date().toISOString().slice(0, 7);
    const statement = (key: string) => send(key, 'GET', `/api/me/statements/${month}`);
    expect((await statement(billing.key)).status).toBe(200);
    expect((await statement(developer.key)).status).toBe(403);
    const budget = { user_id: user.id, amount: 500, period: 'monthly' };
    expect((await send(target.key, 'POST', '/api/admin/budgets', budget)).status).toBe(200);
    const budgets = await send(billing.key, 'GET', '/api/me/budgets');
    expect(dataIn<{ items: object[] }>(budgets).items).toMatchObject([{ amount: 500, spent: 0 }]);
    const members = (key: string) => send(key, 'GET', '/api/me/members');
    expect((await members(partner.key)).status).toBe(200);
    expect((await members(developer.key)).status).toBe(403);
    expect((await members(billing.key)).status).toBe(403);
  });

  test('with the role billing are refused by all other operations, also on sockets', async () => {
    const { billing } = await customer();
    const secured = operationIds.filter((id) => operations[id].security !== 'none');
    for (const id of secured) {
      const operation: { method: string; path: string; billing?: true } = operations[id];
      if (operation.billing === true) continue;
      const path = operation.path.replaceAll(/\{[^}]+\}/g, '1');
      const { status } = await send(billing.key, operation.method.toUpperCase(), path);
      expect(status, id).toBe(403);
    }
    await expect(connect(target.url + socketPath, { key: billing.key })).rejects.toThrow(/403/);
  });

  test('pass their rights on to keys that they create, and to no other member', async () => {
    const { developer, partner, billing } = await customer();
    const create = (key: string, fields: object = {}) =>
      send(key, 'POST', '/api/token/', { name: 'child', unlimited_quota: true, ...fields });
    const child = dataIn<{ key: string; member_id: number }>(await create(developer.key));
    expect(child.member_id).toBe(developer.member.id);
    expect((await send(child.key, 'GET', '/api/me/members')).status).toBe(403);
    expect((await create(developer.key, { member_id: partner.member.id })).status).toBe(403);
    expect((await create(billing.key)).status).toBe(403);
    const stranger = await customer();
    const foreign = await create(partner.key, { member_id: stranger.developer.member.id });
    expect(foreign.status).toBe(403);
    expect(foreign.text).toContain('member_id');
    expect((await send(developer.key, 'DELETE', `/api/token/${partner.id}`)).status).toBe(404);
  });

  test('lose their keys and sockets at once when they are removed', async () => {
    const { owner, developer } = await customer();
    const child = dataIn<{ key: string }>(
      await send(developer.key, 'POST', '/api/token/', { name: 'child', unlimited_quota: true }),
    );
    const clients = await Promise.all(
      [developer.key, child.key].map(async (key) => {
        const client = await connect(other.url + socketPath, { key });
        await client.next(({ type }) => type === 'session.created');
        return client;
      }),
    );
    expect((await send(owner, 'DELETE', `/api/me/members/${developer.member.id}`)).status).toBe(200);
    expect((await speak(developer.key)).status).toBe(401);
    for (const client of clients) expect((await client.closed).code).toBe(1008);
    for (const key of [developer.key, child.key])
      await vi.waitFor(async () => expect((await speak(key, other)).status).toBe(401));
    const gone = await send(owner, 'POST', '/api/token/', {
      name: 'late',
      unlimited_quota: true,
      member_id: developer.member.id,
    });
    expect(gone.status).toBe(403);
  });

  test('get a new role at once on every gateway, also on open sockets', async () => {
    const { owner, developer } = await customer();
    expect((await speak(developer.key, other)).status).toBe(200);
    const client = await connect(other.url + socketPath, { key: developer.key });
    await client.next(({ type }) => type === 'session.created');
    const path = `/api/me/members/${developer.member.id}`;
    expect((await send(owner, 'PATCH', path, { role: 'billing' })).status).toBe(200);
    expect((await speak(developer.key)).status).toBe(403);
    await vi.waitFor(async () => expect((await speak(developer.key, other)).status).toBe(403));
    expect((await client.closed).code).toBe(1008);
  });

  test('have figures, a log and statement lines, which remain when they are removed', async () => {
    const { user, owner, partner, developer, billing } = await customer();
    const child = dataIn<{ key: string }>(
      await send(developer.key, 'POST', '/api/token/', { name: 'child', unlimited_quota: true }),
    );
    for (const key of [owner, partner.key, developer.key, child.key])
      expect((await speak(key)).status).toBe(200);
    expect((await send(owner, 'DELETE', `/api/me/members/${developer.member.id}`)).status).toBe(200);
    const ofMember = { member_id: developer.member.id, member_name: 'developer' };
    const byMember = [
      { member_id: null, member_name: null, requests: 1 },
      { member_id: partner.member.id, member_name: 'owner', requests: 1 },
      { ...ofMember, requests: 2 },
    ];
    type Figures = { items: object[]; sum: { requests: number } };
    const usage = async (query: string, key = billing.key) =>
      dataIn<Figures>(await send(key, 'GET', `/api/me/usage?${query}`));
    expect((await usage('by=member')).items).toMatchObject(byMember);
    expect((await usage('by=member&by=model')).items).toMatchObject(
      byMember.map((group) => ({ ...group, model: speech.model })),
    );
    const filter = `member_id=${developer.member.id}`;
    expect((await usage(filter)).sum.requests).toBe(2);
    // A key with limits sees only itself, whatever member it asks for.
    const limited = await newToken(target, user.id, { remain_quota: 10_000 });
    expect((await usage(filter, limited.key)).sum.requests).toBe(0);
    const entries = async (key: string, query: string) =>
      dataIn<{ items: { quota: number }[] }>(await send(key, 'GET', `/api/me/log?${query}`)).items;
    const log = await entries(billing.key, filter);
    expect(log).toHaveLength(2);
    expect(await entries(limited.key, filter)).toEqual([]);
    const stranger = await customer();
    expect(await entries(stranger.owner, filter)).toEqual([]);
    expect((await usage(filter, stranger.owner)).sum.requests).toBe(0);

    const admin = (path: string) => send(target.key, 'GET', path);
    const figures = dataIn<Figures>(await admin(`/api/admin/figures?by=member&user_id=${user.id}`));
    expect(figures.items).toMatchObject(byMember);
    expect(dataIn<Figures>(await admin(`/api/admin/figures?${filter}`)).sum.requests).toBe(2);
    expect((await admin(`/api/admin/logs/export?${filter}`)).text.trim().split('\n')).toHaveLength(2);

    type Statement = { charges: { items: object[] }; members: object[] };
    const month = new Date().toISOString().slice(0, 7);
    const path = `/api/me/statements/${month}`;
    const statement = dataIn<Statement>(await send(billing.key, 'GET', path));
    expect(statement.members).toMatchObject(byMember);
    const quota = log.reduce((sum, entry) => sum + entry.quota, 0);
    expect(statement.members[2]).toMatchObject({ quota, spent: 0, debt: 0, refunded: 0, credited: 0 });
    expect(
      statement.charges.items.filter((item) => 'member_id' in item && item.member_id === ofMember.member_id),
    ).toMatchObject([ofMember, ofMember]);
    const csv = (await send(billing.key, 'GET', `${path}?format=csv`)).text.split('\r\n');
    expect(csv.filter((line) => line.includes(`,${ofMember.member_id},"developer",`))).toHaveLength(2);
    expect((await send(billing.key, 'GET', `${path}?format=html`)).text).toContain('<h2>Members</h2>');
  });

  test('are never those of another user', async () => {
    const [first, second] = [await customer(), await customer()];
    const path = `/api/me/members/${second.developer.member.id}`;
    expect((await send(first.owner, 'PATCH', path, { role: 'billing' })).status).toBe(404);
    expect((await send(first.owner, 'DELETE', path)).status).toBe(404);
    const list = await send(first.owner, 'GET', '/api/me/members');
    expect(dataIn<{ items: { id: number }[] }>(list).items.map(({ id }) => id)).toEqual(
      [first.partner, first.developer, first.billing].map(({ member }) => member.id),
    );
  });

  test('keep no key that is created while they are removed', async () => {
    const { owner, developer } = await customer();
    const create = () =>
      send(owner, 'POST', '/api/token/', {
        name: 'race',
        unlimited_quota: true,
        member_id: developer.member.id,
      });
    const createChild = () =>
      send(developer.key, 'POST', '/api/token/', { name: 'race', unlimited_quota: true }, other);
    const created = await Promise.all([
      create(),
      createChild(),
      send(owner, 'DELETE', `/api/me/members/${developer.member.id}`),
      create(),
      createChild(),
    ]);
    for (const reply of created) {
      const data = dataIn<{ key: string } | undefined>(reply);
      if (data === undefined) continue;
      expect((await send(data.key, 'GET', '/api/me')).status).toBe(401);
    }
  });
});
