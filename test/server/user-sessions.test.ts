import { createHmac, generateKeyPairSync } from 'node:crypto';
import { request } from 'node:http';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../generated/http.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { newMember } from '../support/members.ts';
import { callAdmin, newToken, newUser, type Token } from '../support/operator.ts';
import { dataIn, sendTo, startTwoGateways, type TwoGateways } from '../support/two-gateways.ts';
import { assertionSecret, exchangeAssertion, signAssertion } from '../support/user-assertions.ts';

type Session = components['schemas']['Session'];
type Me = components['schemas']['Me'];
type KeyView = components['schemas']['Token'];

const hour = 3_600_000;
/** Later than the clock of the process, so that a test can move it. */
let now = Date.now();

const names = { count: 0 };
const newName = (prefix = 'user') => `${prefix} ${(names.count += 1)}`;

async function messageOf(response: Response): Promise<string> {
  return ((await response.json()) as { message: string }).message;
}

async function sessionOf(
  url: string,
  user: string,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<Session> {
  const response = await exchangeAssertion(url, await signAssertion(user, { claims, now }));
  expect(response.status, await response.clone().text()).toBe(200);
  return ((await response.json()) as { data: Session }).data;
}

async function me(target: Pick<TestGateway, 'url'>, key: string): Promise<Me> {
  return dataIn<Me>(await sendTo(target, key, 'GET', '/api/me'));
}

const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hi.' };

describe.each(engines)('on %s', (engine) => {
  let target: TestGateway;
  let other: TestGateway;
  let gateways: TwoGateways;
  beforeAll(async () => {
    gateways = await startTwoGateways(engine, { userAssertionSecret: assertionSecret }, () => now);
    ({ target, other } = gateways);
  });
  afterAll(() => gateways.close());

  const withWallet = async (amount = 1_000_000) => {
    const user = await newUser(target, { name: newName() });
    const body = { amount, reference: 'r', reason: 'r' };
    await callAdmin(target, 'grantToWallet', { path: { id: String(user.id) }, body });
    return user;
  };

  test('an assertion becomes a session key of the user', async () => {
    const user = await newUser(target, { name: newName('Zoë 🦊') });
    const response = await exchangeAssertion(target.url, await signAssertion(user.name, { now }));
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { data: session } = (await response.json()) as { data: Session };
    expect(session).toMatchObject({ user: { id: user.id, name: user.name }, member: null });
    expect(session.expires_at).toBe(Math.floor((now + 12 * hour) / 1000));
    const { key, scopes, limits, member } = await me(target, session.key);
    expect(key).toMatchObject({ session: true, name: 'Session', admin: false, created_by: null });
    expect({ scopes, member }).toEqual({ scopes: ['user', 'create_keys'], member: null });
    expect(limits.expired_time).toBe(session.expires_at);
  });

  test('both gateways return the same key until half of its time has passed', async () => {
    const { id, name } = await newUser(target, { name: newName() });
    const exchanges = Array.from({ length: 12 }, (_, index) =>
      sessionOf(index % 2 === 0 ? target.url : other.url, name),
    );
    const keys = new Set((await Promise.all(exchanges)).map(({ key }) => key));
    expect(keys.size).toBe(1);
    const [first = ''] = keys;
    now += 6 * hour - 60_000;
    expect((await sessionOf(other.url, name)).key).toBe(first);
    now += 120_000;
    const renewed = await Promise.all([sessionOf(target.url, name), sessionOf(other.url, name)]);
    expect(new Set(renewed.map(({ key }) => key)).size).toBe(1);
    expect(renewed[0]?.key).not.toBe(first);
    expect((await sendTo(target, renewed[0]?.key ?? '', 'GET', '/api/me')).status).toBe(200);
    for (const gateway of [target, other])
      await expect.poll(async () => (await sendTo(gateway, first, 'GET', '/api/me')).status).toBe(401);
    const page = await callAdmin<{ total: number }>(target, 'searchTokens', { query: { user_id: id } });
    expect(page.total).toBe(1);
  });

  test('a customer cannot take the name of another user for a sub-account', async () => {
    const victim = await newUser(target, { name: newName() });
    const person = newName('person');
    const customer = await withWallet();
    const { key } = await sessionOf(target.url, customer.name);
    const create = async (name: string) =>
      dataIn<{ id: number }>(await sendTo(target, key, 'POST', '/api/me/accounts', { name })).id;
    await create(victim.name);
    const id = await create('Paris office');
    const path = `/api/me/accounts/${id}`;
    expect((await sendTo(target, key, 'PATCH', path, { name: person })).status).toBe(200);
    expect((await sessionOf(target.url, victim.name)).user.id).toBe(victim.id);
    const refused = await exchangeAssertion(target.url, await signAssertion(person, { now }));
    expect([refused.status, await messageOf(refused)]).toEqual([
      403,
      'sub: there is no user with this name.',
    ]);
  });

  test('a session expires after 12 hours', async () => {
    const { name } = await newUser(target, { name: newName() });
    const { key } = await sessionOf(target.url, name);
    expect((await sendTo(target, key, 'GET', '/api/me')).status).toBe(200);
    now += 12 * hour;
    expect((await sendTo(target, key, 'GET', '/api/me')).status).toBe(401);
    expect((await sessionOf(target.url, name)).key).not.toBe(key);
  });

  test.runIf(engine === 'postgres')('another secret of the proxy replaces the session', async () => {
    const { name } = await newUser(target, { name: newName() });
    const { key } = await sessionOf(target.url, name);
    const secret = 'another-secret-of-the-proxy-and-gateway';
    const { databaseUrl, bootstrapKey } = target.gateway.settings;
    const rotated = await startTestGateway(
      { databaseUrl, bootstrapKey, userAssertionSecret: secret },
      'sqlite',
      () => now,
    );
    try {
      const refused = await exchangeAssertion(rotated.url, await signAssertion(name, { now }));
      expect(refused.status).toBe(401);
      const response = await exchangeAssertion(rotated.url, await signAssertion(name, { now, secret }));
      expect(((await response.json()) as { data: Session }).data.key).not.toBe(key);
      await expect.poll(async () => (await sendTo(target, key, 'GET', '/api/me')).status).toBe(401);
    } finally {
      await rotated.close();
    }
  });

  describe('payment', () => {
    test('without a wallet, the session makes no paid call and its keys have no quota', async () => {
      const user = await newUser(target, { name: newName() });
      await newToken(target, user.id, { unlimited_quota: true });
      const { key } = await sessionOf(target.url, user.name);
      const call = await sendTo(target, key, 'POST', '/v1/audio/speech', speech);
      expect(call.status).toBe(403);
      expect(call.text).toContain(
        'the session key of a user without a wallet has no quota, which does not cover this call',
      );
      for (const fields of [{ unlimited_quota: true }, { remain_quota: 1 }]) {
        const made = await sendTo(target, key, 'POST', '/api/token/', { name: 'k', ...fields });
        expect(made.status).toBe(403);
        expect(made.text).toContain(Object.keys(fields)[0]);
      }
      const made = dataIn<Token>(
        await sendTo(target, key, 'POST', '/api/token/', { name: 'k', remain_quota: 0 }),
      );
      await callAdmin(target, 'grantQuota', {
        path: { id: String(made.id) },
        body: { amount: 100_000, reason: 'r' },
      });
      expect((await sendTo(target, made.key, 'POST', '/v1/audio/speech', speech)).status).toBe(200);
    });

    test('a wallet pays, also one that is opened later', async () => {
      const user = await newUser(target, { name: newName() });
      const { key } = await sessionOf(target.url, user.name);
      const body = { amount: 50_000, reference: 'r', reason: 'r' };
      await callAdmin(target, 'grantToWallet', { path: { id: String(user.id) }, body });
      await expect
        .poll(async () => (await sendTo(target, key, 'POST', '/v1/audio/speech', speech)).status)
        .toBe(200);
      const { wallet } = await me(target, key);
      expect(wallet?.used).toBeGreaterThan(0);
      const empty = await withWallet(1);
      const poor = await sessionOf(target.url, empty.name);
      const refused = await sendTo(target, poor.key, 'POST', '/v1/audio/speech', speech);
      expect(refused.status).toBe(403);
      expect(refused.text).toContain('the wallet of the user has 1 left');
    });

    test('a hard budget of the user limits the session', async () => {
      const user = await withWallet();
      const body = { user_id: user.id, amount: 1, period: 'daily', hard: true };
      await callAdmin(target, 'createBudget', { body });
      const { key } = await sessionOf(target.url, user.name);
      const call = await sendTo(target, key, 'POST', '/v1/audio/speech', speech);
      expect(call.status).toBe(403);
      expect(call.text).toContain('budget');
    });
  });

  describe('keys that a session creates', () => {
    test('outlive it, and keep the member', async () => {
      const user = await withWallet();
      const { id } = await newMember(target, user.id, { name: 'Grace' });
      const session = await sessionOf(target.url, user.name, { member: 'Grace' });
      expect(session.member).toEqual({ id, name: 'Grace', role: 'developer' });
      const body = { name: 'k', unlimited_quota: true };
      const made = dataIn<KeyView>(await sendTo(target, session.key, 'POST', '/api/token/', body));
      expect(made).toMatchObject({ created_by: null, member_id: id, expired_time: -1, session: false });
      const own = await me(target, session.key);
      expect((await sendTo(target, session.key, 'DELETE', `/api/token/${own.key.id}`)).status).toBe(200);
      for (const gateway of [target, other])
        await expect
          .poll(async () => (await sendTo(gateway, session.key, 'GET', '/api/me')).status)
          .toBe(401);
      now += 13 * hour;
      expect((await me(target, made.key)).member).toEqual({ id, name: 'Grace', role: 'developer' });
      // A later session of the member still has the key.
      const later = await sessionOf(target.url, user.name, { member: 'Grace' });
      expect(later.key).not.toBe(session.key);
      expect((await sendTo(target, later.key, 'DELETE', `/api/token/${made.id}`)).status).toBe(200);
    });

    test('have no more rights than the session', async () => {
      const user = await newUser(target, { name: newName(), role: 'admin' });
      const { key } = await sessionOf(target.url, user.name);
      expect((await me(target, key)).scopes).not.toContain('admin');
      expect((await sendTo(target, key, 'GET', '/api/admin/users')).status).toBe(403);
      const body = { name: 'k', unlimited_quota: true, admin: true };
      expect((await sendTo(target, key, 'POST', '/api/token/', body)).status).toBe(403);
      const developers = await withWallet();
      await newMember(target, developers.id, { name: 'dev' });
      const { id: owner } = await newMember(target, developers.id, { name: 'boss', role: 'owner' });
      const { key: developer } = await sessionOf(target.url, developers.name, { member: 'dev' });
      const asOwner = { name: 'k', remain_quota: 0, member_id: owner };
      expect((await sendTo(target, developer, 'POST', '/api/token/', asOwner)).status).toBe(403);
      const inGroup = { name: 'k', remain_quota: 0, group: 'other' };
      expect((await sendTo(target, developer, 'POST', '/api/token/', inGroup)).status).toBe(403);
    });

    test('count towards the maximum', async () => {
      const user = await withWallet();
      const { key } = await sessionOf(target.url, user.name);
      const { keysPerKey } = target.gateway.settings;
      const create = () => sendTo(target, key, 'POST', '/api/token/', { name: 'k', remain_quota: 0 });
      const statuses: number[] = [];
      for (let count = 0; count <= keysPerKey; count += 1) statuses.push((await create()).status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(keysPerKey);
      expect(statuses.at(-1)).toBe(403);
    });
  });

  describe('rights of a member', () => {
    test('a developer sees the keys and the calls of the member only', async () => {
      const user = await withWallet();
      await newToken(target, user.id, { name: 'of the user', unlimited_quota: true });
      const { id } = await newMember(target, user.id, { name: 'Ada' });
      await newMember(target, user.id, { name: 'Bob' });
      const given = await newToken(target, user.id, { name: 'of Ada', unlimited_quota: true, member_id: id });
      const ada = await sessionOf(target.url, user.name, { member: 'Ada' });
      const bob = await sessionOf(target.url, user.name, { member: 'Bob' });
      const made = await sendTo(target, given.key, 'POST', '/api/token/', { name: 'child', remain_quota: 0 });
      expect(made.status).toBe(200);
      expect((await sendTo(target, given.key, 'POST', '/v1/audio/speech', speech)).status).toBe(200);
      const list = async ({ key }: Session) => {
        const page = dataIn<{ items: KeyView[] }>(await sendTo(target, key, 'GET', '/api/token/'));
        return page.items.map(({ name, session }) => (session === true ? 'session' : name)).toSorted();
      };
      expect([await list(ada), await list(bob)]).toEqual([['child', 'of Ada', 'session'], ['session']]);
      const log = async ({ key }: Session) =>
        dataIn<{ items: unknown[] }>(await sendTo(target, key, 'GET', '/api/me/log')).items.length;
      await expect.poll(() => log(ada)).toBe(1);
      expect(await log(bob)).toBe(0);
      expect((await me(target, ada.key)).scopes).toEqual(['create_keys']);
      expect((await sendTo(target, bob.key, 'DELETE', `/api/token/${given.id}`)).status).toBe(404);
      expect((await sendTo(target, ada.key, 'GET', '/api/me/members')).status).toBe(403);
    });

    test('an owner and a billing member have the rights of their role', async () => {
      const user = await withWallet();
      await newMember(target, user.id, { name: 'boss', role: 'owner' });
      await newMember(target, user.id, { name: 'books', role: 'billing' });
      const boss = await sessionOf(target.url, user.name, { member: 'boss' });
      const books = await sessionOf(target.url, user.name, { member: 'books' });
      expect((await sendTo(target, boss.key, 'GET', '/api/me/members')).status).toBe(200);
      expect((await sendTo(target, books.key, 'GET', '/api/me/statements')).status).toBe(200);
      expect((await sendTo(target, books.key, 'POST', '/v1/audio/speech', speech)).status).toBe(403);
      expect(
        (await sendTo(target, books.key, 'POST', '/api/token/', { name: 'k', remain_quota: 0 })).status,
      ).toBe(403);
    });

    test('the removal of the member signs out on both gateways', async () => {
      const user = await newUser(target, { name: newName() });
      const { id } = await newMember(target, user.id, { name: 'Ada' });
      const { key } = await sessionOf(target.url, user.name, { member: 'Ada' });
      for (const gateway of [target, other])
        expect((await sendTo(gateway, key, 'GET', '/api/me')).status).toBe(200);
      const path = { id: String(user.id), member_id: String(id) };
      await callAdmin(target, 'deleteUserMember', { path });
      for (const gateway of [target, other])
        await expect.poll(async () => (await sendTo(gateway, key, 'GET', '/api/me')).status).toBe(401);
      const again = await exchangeAssertion(
        target.url,
        await signAssertion(user.name, { now, claims: { member: 'Ada' } }),
      );
      expect(again.status).toBe(403);
      expect(await messageOf(again)).toBe('member: the user has no member with this name.');
    });

    test('a user who is disabled between exchange and use is signed out', async () => {
      const user = await newUser(target, { name: newName() });
      const { key } = await sessionOf(other.url, user.name);
      expect((await sendTo(other, key, 'GET', '/api/me')).status).toBe(200);
      const path = { id: String(user.id) };
      await callAdmin(target, 'updateUser', { path, body: { disabled: true } });
      await expect.poll(async () => (await sendTo(other, key, 'GET', '/api/me')).status).toBe(401);
      const again = await exchangeAssertion(target.url, await signAssertion(user.name, { now }));
      expect([again.status, await messageOf(again)]).toEqual([403, 'sub: the user is disabled.']);
    });

    test('ambiguous names are refused', async () => {
      const name = newName();
      const user = await newUser(target, { name });
      for (const _ of [1, 2]) await newMember(target, user.id, { name: 'Sam' });
      const claims = { member: 'Sam' };
      const member = await exchangeAssertion(target.url, await signAssertion(name, { now, claims }));
      expect([member.status, await messageOf(member)]).toEqual([
        403,
        'member: several members of the user have this name; give the member a unique one.',
      ]);
      await newUser(target, { name });
      const both = await exchangeAssertion(target.url, await signAssertion(name, { now }));
      expect([both.status, await messageOf(both)]).toEqual([
        403,
        'sub: several users have this name; give the user a unique one.',
      ]);
    });
  });

  describe('an admin', () => {
    test('can disable a session key, which is not replaced', async () => {
      const user = await newUser(target, { name: newName() });
      const { key } = await sessionOf(target.url, user.name);
      const { id } = (await me(target, key)).key;
      const path = { id: String(id) };
      await callAdmin(target, 'updateToken', { path, body: { status: 2 } });
      expect((await sendTo(target, key, 'GET', '/api/me')).status).toBe(401);
      const again = await exchangeAssertion(target.url, await signAssertion(user.name, { now }));
      expect(again.status).toBe(403);
      await callAdmin(target, 'updateToken', { path, body: { status: 1 } });
      expect((await sessionOf(target.url, user.name)).key).toBe(key);
    });

    test('cannot give a session key rights, quota or a budget', async () => {
      const user = await newUser(target, { name: newName() });
      const { key } = await sessionOf(target.url, user.name);
      const { id } = (await me(target, key)).key;
      const admin = { ...target, key: target.key };
      const patch = (body: object) => sendTo(admin, admin.key, 'PATCH', `/api/admin/tokens/${id}`, body);
      for (const body of [{ expired_time: -1 }, { admin: true }, { unlimited_quota: true }])
        expect((await patch(body)).status).toBe(403);
      const grant = { amount: 1, reason: 'r' };
      const granted = await sendTo(admin, admin.key, 'POST', `/api/admin/tokens/${id}/grants`, grant);
      expect(granted.status).toBe(403);
      const budget = { token_id: id, amount: 1, period: 'daily' };
      expect((await sendTo(admin, admin.key, 'POST', '/api/admin/budgets', budget)).status).toBe(403);
    });
  });
});

describe('assertions that are refused', () => {
  let target: TestGateway;
  const lines: string[] = [];
  beforeAll(async () => {
    const logger = createLogger('trace', [], { write: (line) => void lines.push(line) });
    target = await startTestGateway({ userAssertionSecret: assertionSecret }, 'sqlite', Date.now, logger);
    await newUser(target, { name: 'Ada' });
  });
  afterAll(() => target.close());

  const seconds = () => Math.floor(Date.now() / 1000);
  const payload = () => ({ sub: 'Ada', aud: 'unigate', exp: seconds() + 60 });
  /** A token with any header and payload, signed with HMAC. */
  const forge = (header: object, claims: object, digest = 'sha256') => {
    const text = [header, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${text}.${createHmac(digest, assertionSecret).update(text).digest('base64url')}`;
  };
  const signed = (claims: Readonly<Record<string, unknown>>) => () => signAssertion('Ada', { claims });
  /** An assertion with a time 10 minutes ahead, when the test runs. */
  const ofFuture = (claim: 'nbf' | 'iat') => () =>
    signAssertion('Ada', { claims: { [claim]: seconds() + 600 } });
  const invalidHeader = /^x-unigate-user-assertion: must be a JSON Web Token/;
  const invalidName = /must be a name of 1 to 64 characters/;

  const attacks: Readonly<Record<string, [() => Promise<string> | string, RegExp]>> = {
    'without a token': [() => '', /is required; the proxy of the operator adds it/],
    'of no token': [() => 'Ada', invalidHeader],
    'of five parts': [() => 'a.b.c.d.e', invalidHeader],
    'with the algorithm none': [() => new UnsecuredJWT(payload()).encode(), /^alg: must be HS256/],
    'with the algorithm None': [() => forge({ alg: 'None' }, payload()), /^alg: must be HS256/],
    'with HS512': [() => forge({ alg: 'HS512' }, payload(), 'sha512'), /^alg: must be HS256/],
    'with RS256 and the secret as key': [() => forge({ alg: 'RS256' }, payload()), /^alg: must be HS256/],
    'with RS256 and another key': [
      () =>
        new SignJWT(payload())
          .setProtectedHeader({ alg: 'RS256' })
          .sign(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey),
      /^alg: must be HS256/,
    ],
    'with a critical extension': [
      () => forge({ alg: 'HS256', crit: ['exp'], exp: 1 }, payload()),
      invalidHeader,
    ],
    'of another secret': [
      () => signAssertion('Ada', { secret: `${assertionSecret}x` }),
      /the signature is not valid/,
    ],
    'of the empty secret': [
      () => {
        const [head, body] = forge({ alg: 'HS256' }, payload()).split('.');
        return `${head}.${body}.${createHmac('sha256', '').update(`${head}.${body}`).digest('base64url')}`;
      },
      /the signature is not valid/,
    ],
    'of another audience': [signed({ aud: 'other' }), /^aud: must be unigate/],
    'without an audience': [signed({ aud: undefined }), /^aud: is required/],
    'that has expired': [
      () => signAssertion('Ada', { lifetime: -31 }),
      /^exp: the user assertion has expired/,
    ],
    'without an expiry': [signed({ exp: undefined }), /^exp: is required/],
    'with an expiry of another type': [signed({ exp: '9999999999' }), /^exp: is not valid/],
    'that expires in 11 minutes': [
      () => signAssertion('Ada', { lifetime: 660 }),
      /^exp: must be at most 10 minutes ahead/,
    ],
    'that never expires': [
      () => forge({ alg: 'HS256' }, { ...payload(), exp: Number.MAX_VALUE }),
      /^exp: must be at most 10 minutes ahead/,
    ],
    'that is not valid yet': [ofFuture('nbf'), /^nbf: the user assertion is not valid yet/],
    'of the future': [ofFuture('iat'), /^iat: must not be in the future/],
    'with a time of issue of another type': [signed({ iat: 'now' }), /^iat: /],
    'without a user': [signed({ sub: undefined }), /^sub: is required/],
    'with a number as user': [signed({ sub: 1 }), /^sub: /],
    'with an empty user': [signed({ sub: '' }), invalidName],
    'with a long user': [signed({ sub: 'a'.repeat(65) }), invalidName],
    'with a null character': [signed({ sub: 'Ada\u0000' }), invalidName],
    'with a lone surrogate': [() => forge({ alg: 'HS256' }, { ...payload(), sub: 'Ada\ud800' }), invalidName],
    'with a list as member': [signed({ member: ['Ada'] }), /^member: must be a name/],
    'with null as member': [signed({ member: null }), /^member: must be a name/],
  };

  test.each(Object.entries(attacks))('a token %s', async (_title, [make, message]) => {
    const token = await make();
    const response = await exchangeAssertion(target.url, token);
    expect(response.status).toBe(401);
    const text = await messageOf(response);
    expect(text).toMatch(message);
    if (token.length > 5) expect(text).not.toContain(token);
  });

  test.each(['Ａda', 'ada', 'Ada ', 'Ada\u0301', 'A\u200bda', '%41da', "Ada' or '1'='1", 'Ad_', '%'])(
    'the name %j is another user',
    async (sub) => {
      const response = await exchangeAssertion(target.url, await signAssertion(sub));
      expect([response.status, await messageOf(response)]).toEqual([
        403,
        'sub: there is no user with this name.',
      ]);
    },
  );

  test('two headers', async () => {
    const token = await signAssertion('Ada');
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const sent = request(`${target.url}/api/session`, { method: 'POST' }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode, text }));
      });
      sent.on('error', reject);
      sent.setHeader('x-unigate-user-assertion', [token, token]);
      sent.end();
    });
    expect(answer.status).toBe(401);
    expect(answer.text).toContain('must be sent once');
  });

  test('a header of 64 KB', async () => {
    const response = await exchangeAssertion(target.url, 'a'.repeat(65_536)).catch(() => undefined);
    expect(response?.status ?? 431).toBe(431);
    expect((await exchangeAssertion(target.url, await signAssertion('Ada'))).status).toBe(200);
  });

  test('an assertion is no credential of other operations', async () => {
    const headers = { 'x-unigate-user-assertion': await signAssertion('Ada') };
    expect((await fetch(`${target.url}/api/me`, { headers })).status).toBe(401);
  });

  test('pages of other origins', async () => {
    const token = await signAssertion('Ada');
    const status = async (headers: Record<string, string>) =>
      (await exchangeAssertion(target.url, token, headers)).status;
    const own = new URL(target.url).origin;
    expect(await status({ origin: own })).toBe(200);
    for (const origin of ['https://evil.example', 'null', `${own}.evil.example`])
      expect(await status({ origin })).toBe(403);
  });

  test('the 61st exchange of a user in a minute', async () => {
    await newUser(target, { name: 'Loop' });
    const token = await signAssertion('Loop');
    const statuses: number[] = [];
    let last: Response | undefined;
    for (let count = 0; count < 70 && last?.status !== 429; count += 1) {
      last = await exchangeAssertion(target.url, token);
      statuses.push(last.status);
    }
    expect(statuses.length).toBeGreaterThan(60);
    expect(last?.status).toBe(429);
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
    // Another user is not affected.
    expect((await exchangeAssertion(target.url, await signAssertion('Ada'))).status).toBe(200);
  });

  test('the log contains no assertion, session key or secret', async () => {
    const token = await signAssertion('Ada');
    const response = await exchangeAssertion(target.url, token);
    const { data } = (await response.json()) as { data: Session };
    await sendTo(target, data.key, 'GET', '/api/me');
    await expect.poll(() => lines.join('')).toContain('"operation":"createSession"');
    const text = lines.join('');
    expect(text).toContain('a session was opened');
    for (const secret of [token, token.split('.')[2] ?? token, data.key, assertionSecret])
      expect(text).not.toContain(secret);
  });

  test('a logged header is masked', () => {
    const logged: string[] = [];
    const logger = createLogger('info', [], { write: (line) => void logged.push(line) });
    logger.info({ headers: { 'x-unigate-user-assertion': 'a.b.c', authorization: 'Bearer x' } }, 'request');
    expect(logged.join('')).not.toMatch(/a\.b\.c|Bearer x/);
  });
});

test('without the secret, the gateway accepts no assertions', async () => {
  const target = await startTestGateway();
  try {
    await newUser(target, { name: 'Ada' });
    const response = await exchangeAssertion(target.url, await signAssertion('Ada'));
    expect([response.status, await messageOf(response)]).toEqual([
      404,
      'This gateway accepts no user assertions. Sign in with an API key.',
    ]);
  } finally {
    await target.close();
  }
});
