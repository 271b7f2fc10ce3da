import { describe, expect, test } from 'vitest';
import { fetchSession, startSession } from '../../server/providers/verification/sessions.ts';
import { failureOf, useDriverRig } from '../support/driver-rig.ts';

const rig = useDriverRig({ protocol: 'verification' });
const path = '/api/resource-channel/vendorx/visual-validate/sessions';
const respond = (data: unknown, more: object = {}) => {
  rig.answer = { body: { success: true, data, ...more } };
};
const nonsense = { kind: 'unknown', status: 502, fault: 'invalid_response' };
const link = 'https://check.example/h5?token=s1';
const session = { session_id: 's1', h5_link: link };

describe('creating a session', () => {
  const start = () => startSession(rig.to(), { callback_url: 'https://shop.example/back' });
  const halfAnHour = 30 * 60_000;

  test('sends the body of the client', async () => {
    respond({ ...session, vendor_token: 's1' });
    expect(await start()).toEqual({ sessionId: 's1', h5Link: link, lifetimeMs: halfAnHour });
    expect(rig.seen.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', path, { callback_url: 'https://shop.example/back' }],
    ]);
  });

  const from = '2020-01-01T00:00:00Z';
  test.each([
    [from, '2020-01-01T00:00:01Z', 1_000],
    [from, '2020-01-02T00:00:00Z', 24 * 60 * 60_000],
    [from, '2020-01-02T00:00:01Z', halfAnHour],
    [from, from, halfAnHour],
    [from, '2019-12-31T23:59:59Z', halfAnHour],
    [from, 'soon', halfAnHour],
    [undefined, from, halfAnHour],
  ])('from %s to %s returns a lifetime of %i ms', async (created_at, expires_at, lifetimeMs) => {
    respond({ ...session, created_at, expires_at });
    expect(await start()).toMatchObject({ lifetimeMs });
  });

  test.each([
    ['no data', undefined],
    ['no id', { h5_link: link }],
    ['no page', { session_id: 's1', h5_link: 'none' }],
    ['a token that is another', { ...session, vendor_token: 's2' }],
    ['an id that is too long', { ...session, session_id: 'x'.repeat(129) }],
  ])('fails with %s', async (_, data) => {
    respond(data);
    expect(await failureOf(start())).toMatchObject(nonsense);
  });

  test('is retryable if the provider rejects it with HTTP 200', async () => {
    respond(session, { success: false });
    expect(await failureOf(start())).toMatchObject({ kind: 'retryable', status: 502 });
    respond({ ...session, session_id: 'x'.repeat(128) }, { success: undefined });
    expect(await start()).toMatchObject({ sessionId: 'x'.repeat(128) });
  });
});

describe('polling a session', () => {
  const ask = (resultCode?: number, id = 's1') => fetchSession(rig.to(), id, resultCode);

  test('sends the result code of the browser', async () => {
    respond({ status: 'pending' });
    await ask(undefined, 's/1');
    await ask(0);
    expect(rig.seen.map(({ method, path }) => [method, path])).toEqual([
      ['GET', `${path}/s%2F1`],
      ['GET', `${path}/s1?result_code=0`],
    ]);
  });

  const failed = (resultCode?: number) => ({ status: 'failed', resultCode });
  test.each<[object, object]>([
    [
      { status: 'VERIFIED', group_id: 'g1' },
      { status: 'verified', resultCode: 10_000, groupId: 'g1' },
    ],
    [{ status: 'succeeded' }, { status: 'verified', resultCode: 10_000, groupId: undefined }],
    [{ status: 'expired' }, { status: 'expired' }],
    [{ status: 'created' }, { status: 'pending' }],
    [{ status: 'failed' }, failed()],
    [{ status: 'failed', result_code: 0 }, failed(0)],
    [{ status: 'failed', result_code: '1002' }, failed(1002)],
    [{ status: 'failed', result_code: 10_000 }, failed()],
    [{ status: 'failed', result_code: -1 }, failed()],
    [{ status: 'failed', result_code: 1.5 }, failed()],
    [{ status: 'failed', result_code: 2 ** 31 - 1 }, failed(2 ** 31 - 1)],
    [{ status: 'failed', result_code: 2 ** 31 }, failed()],
  ])('reads %j', async (data, state) => {
    respond(data);
    expect(await ask()).toEqual(state);
  });

  test('never fails as rejected', async () => {
    for (const body of [{ success: true, data: {} }, { success: true }]) {
      rig.answer = { body };
      expect(await failureOf(ask())).toMatchObject(nonsense);
    }
    rig.answer = { status: 404, body: { code: 'NotFound' } };
    expect(await failureOf(ask())).toMatchObject(nonsense);
    rig.answer = { status: 500 };
    expect(await failureOf(ask())).toMatchObject({ kind: 'unknown', status: 502, fault: 'server_error' });
  });
});
