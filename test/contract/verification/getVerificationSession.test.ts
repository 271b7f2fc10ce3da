import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { type Call, describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { decideOn } from '../../verification/end-user.ts';

interface Session {
  session_id: string;
  h5_link: string;
  status: string;
  group_id: string;
  result_code?: number;
}

async function startSession(trigger = ''): Promise<Session> {
  const body = { callback_url: `https://app.example/${trigger}` };
  const response = await exchange(inject('gateway'), documented('createVerificationSession'), { body });
  return (jsonOf(response) as { data: Session }).data;
}

async function shown(call: Call, session_id: string, query: Record<string, number> = {}): Promise<Session> {
  const response = await call({ path: { session_id }, query });
  expect(response.status, response.body.toString('utf8', 0, 300)).toBe(200);
  return (jsonOf(response) as { data: Session }).data;
}

describeOperation('getVerificationSession', {
  invalid: {
    'a session id of 129 characters': {
      path: { session_id: 's'.repeat(129) },
      field: 'session_id',
      limit: 128,
    },
    'a result code that is not a number': { query: { result_code: 'passed' }, field: 'result_code' },
    'a result code below 0': { query: { result_code: -1 }, field: 'result_code', limit: 0 },
  },
  gatewayTests: (call) => {
    test('200 pending for any result code of the client, then verified with a group', async () => {
      const { session_id, h5_link } = await startSession();
      const pending = { session_id, status: 'pending', group_id: '' };
      expect(await shown(call, session_id)).toMatchObject(pending);
      const forged = await shown(call, session_id, { result_code: 10_000 });
      expect(forged).toMatchObject(pending);
      expect(forged).not.toHaveProperty('result_code');
      await decideOn(h5_link, 'approve');
      const verified = await shown(call, session_id);
      expect(verified).toMatchObject({ status: 'verified', result_code: 10_000 });
      expect(verified.group_id).toMatch(/^group-\d{14}-[a-z0-9]{5}$/);
      expect(await shown(call, session_id, { result_code: 1 })).toEqual(verified);
    });
    test('200 failed for any result code of the client', async () => {
      const { session_id, h5_link } = await startSession();
      await decideOn(h5_link, 'reject');
      expect(await shown(call, session_id, { result_code: 10_000 })).toMatchObject({
        status: 'failed',
        group_id: '',
        result_code: 10_001,
      });
    });
    test('200 expired if the provider reports it', async () => {
      const { session_id } = await startSession('%5B%5Bexpire%5D%5D');
      const status = async () => (await shown(call, session_id)).status;
      await expect.poll(status, { timeout: 5_000, interval: 100 }).toBe('expired');
    });
    test('400 an id with a NUL character', async () => {
      expectError(await call({ path: { session_id: 'a\0b' } }), 400, { field: 'session_id' });
    });
    test('404 an unknown session and one of another user', async () => {
      const { session_id } = await startSession();
      expectError(await call({ path: { session_id: 'vs_none' } }), 404, { field: 'session_id' });
      expectError(await call({ path: { session_id }, as: 'noQuota' }), 404, { field: 'session_id' });
    });
    test.each([
      [429, 'poll-throttle'],
      [502, 'poll-error'],
      [502, 'poll-malformed'],
      [502, 'poll-drop'],
    ])('%i for [[%s]], then the session continues', async (status, trigger) => {
      const { session_id } = await startSession(`%5B%5B${trigger}%5D%5D`);
      expectError(await call({ path: { session_id } }), status);
      expect(await shown(call, session_id)).toMatchObject({ status: 'pending' });
    });
    test('502 if the provider lost the session', async () => {
      const { session_id } = await startSession('%5B%5Bunknown%5D%5D');
      expectError(await call({ path: { session_id } }), 502);
    });
  },
});
