import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ledgerRows, logRows, makeKey, remainingQuota } from '../server/ledger.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo } from '../support/upstream.ts';
import { createOtherUserKey } from '../video/asset-provider.ts';
import {
  SessionClient,
  type SessionProvider,
  sendJson,
  sessionData,
  sessionsPath,
  startSessionProvider,
} from './session-provider.ts';

const minute = 60_000;

describe.each(engines)('verification sessions on %s', (engine) => {
  let provider: SessionProvider;
  let target: TestGateway;
  let client: SessionClient;
  let stranger: SessionClient;
  /** Milliseconds by which the gateway's clock is advanced. */
  let ahead = 0;

  beforeAll(async () => {
    provider = await startSessionProvider(engine);
    const channels = [
      channelTo(provider.url, { name: 'people', protocol: 'verification' }),
      channelTo(provider.url, { name: 'native' }),
    ];
    target = await startTestGateway(
      { sandbox: false, channels, prices: { vendorx_verification: 7 } },
      engine,
      () => Date.now() + ahead,
    );
    client = new SessionClient(target.url, target.key);
    stranger = new SessionClient(target.url, await createOtherUserKey(target));
  });
  beforeEach(() => {
    ahead = 0;
    provider.seen.length = 0;
    provider.instead = undefined;
  });
  afterAll(async () => {
    await target.close();
    await provider.close();
  });

  test('returns the provider’s session with its page and no other account data', async () => {
    const session = await client.start({ callback_url: 'https://app.example/in?a=1#x', project_name: 'p' });
    expect(provider.seen).toMatchObject([
      {
        method: 'POST',
        path: sessionsPath,
        headers: { authorization: 'Bearer upstream-key' },
        body: { callback_url: 'https://app.example/in?a=1#x', project_name: 'p' },
      },
    ]);
    const [id = ''] = [...provider.sessions.keys()].slice(-1);
    const link = `https://pages.vendor.example/h5?token=${id}`;
    const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/;
    expect(session).toEqual({
      session_id: id,
      vendor_token: id,
      h5_link: link,
      callback_url: 'https://app.example/in?a=1#x',
      channel_id: expect.any(Number),
      status: 'pending',
      group_id: '',
      raw_response: JSON.stringify({
        Result: { VendorToken: id, CallbackURL: 'https://app.example/in?a=1#x', H5Link: link },
      }),
      expires_at: expect.stringMatching(moment),
      created_at: expect.stringMatching(moment),
      updated_at: session.created_at,
    });
    expect(session.channel_id).not.toBe(4711);
    expect((await client.start({})).channel_id).toBe(session.channel_id);
    expect(provider.seen.at(-1)?.body).toEqual({});
  });

  test('charges one action for a created session and nothing for a failed one', async () => {
    const { key, id, userId } = await makeKey(target, { quota: 10 });
    const limited = new SessionClient(target.url, key);
    await limited.start();
    expect(await remainingQuota(target, id)).toBe(3);
    const short = await limited.call('POST', sessionsPath, {});
    expect([short.status, short.body.message]).toEqual([403, expect.stringMatching(/^quota: .* need 7/)]);
    expect(await remainingQuota(target, id)).toBe(3);
    const rich = await makeKey(target, { quota: 100, userId });
    provider.instead = (_request, response) => sendJson(response, 500, {});
    const failed = await new SessionClient(target.url, rich.key).call('POST', sessionsPath, {});
    expect([failed.status, await remainingQuota(target, rich.id)]).toEqual([502, 100]);
    const [last] = (await logRows(target)).slice(-1);
    expect(last).toMatchObject({ operation: 'createVerificationSession', status: 502, quota: 0 });
    expect((await ledgerRows(target)).every(({ state }) => state !== 'open')).toBe(true);
  });

  test('takes the result from the provider and not from the client', async () => {
    const { session_id: id } = await client.start();
    expect(await client.show(id, 10_000)).toMatchObject({ status: 'pending', group_id: '' });
    expect(provider.reads()[0]?.path).toBe(`${sessionsPath}/${id}?result_code=10000`);
    provider.sessions.set(id, { status: 'failed', result_code: 20_001 });
    const failed = await client.show(id, 10_000);
    expect(failed).toMatchObject({ status: 'failed', group_id: '', result_code: 20_001 });
    provider.seen.length = 0;
    provider.sessions.set(id, { status: 'verified', group_id: 'group-theirs' });
    expect(await client.show(id, 10_000)).toEqual(failed);
    expect(provider.seen).toEqual([]);
  });

  test('a verified session has a public group id', async () => {
    const { session_id: id } = await client.start();
    provider.sessions.set(id, { status: 'verified', group_id: 'group-20250101000000-their' });
    const verified = await client.show(id);
    expect(verified).toMatchObject({ status: 'verified', result_code: 10_000 });
    expect(verified.group_id).toMatch(/^group-\d{14}-[a-z0-9]{5}$/);
    expect(JSON.stringify(verified)).not.toContain('their');
    provider.seen.length = 0;
    expect(await client.show(id)).toEqual(verified);
    expect(provider.seen).toEqual([]);
  });

  test.each<[string, object, object]>([
    ['verified without a group', { status: 'Verified' }, { status: 'verified', group_id: '' }],
    ['verified in another word', { status: 'succeeded' }, { status: 'verified', result_code: 10_000 }],
    ['verified with another code', { status: 'verified', result_code: 3 }, { result_code: 10_000 }],
    ['expired', { status: 'expired' }, { status: 'expired' }],
    ['a word that nobody knows', { status: 'reviewing' }, { status: 'pending' }],
  ])('reads a session of the provider: %s', async (_title, reported, shown) => {
    const { session_id: id } = await client.start();
    provider.sessions.set(id, { ...reported });
    expect(await client.show(id)).toMatchObject(shown);
  });

  test.each([10_000, -1, 1.5, 2 ** 31, 'none', null])(
    'drops the result code %j of a failure',
    async (code) => {
      const { session_id: id } = await client.start();
      provider.sessions.set(id, { status: 'failed', result_code: code });
      const failed = await client.show(id);
      expect(failed.status).toBe('failed');
      expect(failed).not.toHaveProperty('result_code');
    },
  );

  test('expires after half an hour and is not polled afterwards', async () => {
    const { session_id: id, created_at, expires_at } = await client.start();
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(30 * minute);
    ahead = 29 * minute;
    expect((await client.show(id)).status).toBe('pending');
    ahead = 31 * minute;
    provider.seen.length = 0;
    provider.sessions.set(id, { status: 'verified', group_id: 'late' });
    const expired = await client.show(id, 10_000);
    expect(expired).toMatchObject({ status: 'expired', group_id: '', updated_at: expires_at });
    // A clock that steps back has no effect.
    ahead = 0;
    expect(await client.show(id)).toEqual(expired);
    expect(provider.seen).toEqual([]);
  });

  test.each([
    ['two minutes', '2020-01-01T08:02:00+08:00', 2 * minute],
    ['nonsense', 'soon', 30 * minute],
    ['no time at all', '2020-01-01T00:00:00Z', 30 * minute],
    ['more than a day', '2020-01-03T00:00:00Z', 30 * minute],
  ])('has the lifetime that the provider reports: %s', async (_title, expires_at, life) => {
    provider.instead = (_request, response) => {
      const times = { created_at: '2020-01-01T00:00:00Z', expires_at };
      sendJson(response, 200, { success: true, data: sessionData(`vs_${engine}_${expires_at}`, times) });
    };
    const session = await client.start();
    expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(life);
  });

  test('is visible only to its user', async () => {
    const { session_id: id } = await client.start();
    const theirs = await stranger.start();
    provider.seen.length = 0;
    for (const other of [id, 'vs_none', 'x'.repeat(128), '..%2F']) {
      const { status, body } = await stranger.read(other);
      expect([status, body.message]).toEqual([404, expect.stringMatching(/^session_id: /)]);
    }
    expect((await client.read(theirs.session_id)).status).toBe(404);
    expect(provider.seen).toEqual([]);
  });

  test('concurrent polls share one upstream call, and a result code causes another one', async () => {
    const { session_id: id } = await client.start();
    provider.seen.length = 0;
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const answers = [{ status: 'pending' }, { status: 'verified', group_id: 'g' }];
    let count = 0;
    provider.instead = async (_request, response) => {
      const turn = count++;
      await gates[turn]?.promise;
      sendJson(response, 200, { success: true, data: sessionData(id, answers[turn]) });
    };
    const first = [client.show(id), client.show(id)];
    await vi.waitFor(() => expect(provider.reads()).toHaveLength(1));
    const checks = target.gateway.verificationChecks;
    const running = checks.get(id);
    const hinted = [client.show(id, 10_000), client.show(id, 10_000)];
    await vi.waitFor(() => expect(target.gateway.verificationChecks.get(id)).toBe(running));
    gates[0]?.resolve();
    expect(await Promise.all(first)).toMatchObject([{ status: 'pending' }, { status: 'pending' }]);
    await vi.waitFor(() => expect(provider.reads()).toHaveLength(2));
    gates[1]?.resolve();
    expect(await Promise.all(hinted)).toMatchObject([{ status: 'verified' }, { status: 'verified' }]);
    expect(provider.reads()).toHaveLength(2);
    expect(checks.size).toBe(0);
  });

  test('a session is stored and charged if the client disconnects during its creation', async () => {
    const { key, id: tokenId } = await makeKey(target, { quota: 7 });
    const leave = new AbortController();
    let release = () => {};
    const late = `vs_${engine}_late`;
    provider.instead = (_request, response) => {
      release = () => sendJson(response, 200, { success: true, data: sessionData(late) });
      leave.abort();
    };
    const call = new SessionClient(target.url, key).call('POST', sessionsPath, {}, leave.signal);
    await expect(call).rejects.toThrow('abort');
    release();
    await vi.waitFor(async () => {
      expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 7 });
    });
    expect(await remainingQuota(target, tokenId)).toBe(0);
    provider.instead = undefined;
    provider.sessions.set(late, { status: 'failed' });
    expect((await client.show(late)).status).toBe('failed');
    expect((await stranger.read(late)).status).toBe(404);
  });

  test.each<[string, unknown]>([
    ['no object', []],
    ['no data', { success: true, message: '' }],
    ['no id', { success: true, data: { ...sessionData('x'), session_id: '' } }],
    ['an id of 129 characters', { success: true, data: sessionData('i'.repeat(129)) }],
    ['an id with a NUL', { success: true, data: sessionData('a\0b') }],
    ['an id that is a folder', { success: true, data: sessionData('..') }],
    ['another token', { success: true, data: { ...sessionData('vs_a'), vendor_token: 'vs_b' } }],
    ['no page', { success: true, data: { ...sessionData('vs_a'), h5_link: undefined } }],
    ['a page that is a script', { success: true, data: { ...sessionData('vs_a'), h5_link: 'javascript:1' } }],
    ['an id that exists', { success: true, data: sessionData('vs_taken') }],
    ['a rejection', { success: false, message: 'balance of account 4711 too low' }],
  ])('fails without a charge if the provider responds with %s', async (_title, answer) => {
    await target.gateway.store.run('saveVerificationSession', {
      session_id: 'vs_taken',
      user_id: 99,
      token_id: 1,
      channel: 'people',
      h5_link: 'https://pages.vendor.example/',
      callback_url: '',
      status: 'pending',
      group_id: null,
      upstream_group_id: null,
      result_code: null,
      created_at: 1,
      updated_at: 1,
      expires_at: 2,
    });
    const { key, id } = await makeKey(target, { quota: 7 });
    provider.instead = (_request, response) => sendJson(response, 200, answer);
    const { status, body } = await new SessionClient(target.url, key).call('POST', sessionsPath, {});
    expect([status, body.success]).toEqual([502, false]);
    expect(body.message).not.toContain('4711');
    expect(await remainingQuota(target, id)).toBe(7);
  });

  test.each<[number, unknown, number]>([
    [404, { success: false, message: 'no such session of account 4711' }, 502],
    [400, { success: false, message: 'not with account 4711' }, 502],
    [401, {}, 502],
    [429, {}, 429],
    [503, {}, 503],
    [504, {}, 504],
    [200, { success: false, message: 'account 4711' }, 502],
    [200, { success: true, data: {} }, 502],
    [200, 'pending', 502],
  ])('keeps the session if the provider responds to a poll with %i %j', async (status, answer, reported) => {
    const { session_id: id } = await client.start();
    provider.instead = (_request, response) => sendJson(response, status, answer);
    const { status: shown, body } = await client.read(id);
    expect([shown, body.success]).toEqual([reported, false]);
    expect(body.message).not.toContain('4711');
    provider.instead = undefined;
    expect((await client.show(id)).status).toBe('pending');
    target.gateway.channels.named('people')?.health.reset();
  });
});
