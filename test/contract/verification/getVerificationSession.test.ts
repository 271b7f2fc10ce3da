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

async function started(word = ''): Promise<Session> {
  const body = { callback_url: `https://app.example/${word}` };
  const answer = await exchange(inject('gateway'), documented('createVerificationSession'), { body });
  return (jsonOf(answer) as { data: Session }).data;
}

async function shown(call: Call, session_id: string, query: Record<string, number> = {}): Promise<Session> {
  const answer = await call({ path: { session_id }, query });
  expect(answer.status, answer.body.toString('utf8', 0, 300)).toBe(200);
  return (jsonOf(answer) as { data: Session }).data;
}

describeOperation('getVerificationSession', {
  invalid: {
    'a session id of 129 characters': {
      path: { session_id: 's'.repeat(129) },
      field: 'session_id',
      limit: 128,
    },
    'a result code that is no number': { query: { result_code: 'passed' }, field: 'result_code' },
    'a result code below 0': { query: { result_code: -1 }, field: 'result_code', limit: 0 },
  },
  gatewayTests: (call) => {
    test('200 pending, whatever result code the client tells, then verified with a group', async () => {
      const { session_id, h5_link } = await started();
      const pending = { session_id, status: 'pending', group_id: '' };
      expect(await shown(call, session_id)).toMatchObject(pending);
      const lied = await shown(call, session_id, { result_code: 10_000 });
      expect(lied).toMatchObject(pending);
      expect(lied).not.toHaveProperty('result_code');
      await decideOn(h5_link, 'approve');
      const verified = await shown(call, session_id);
      expect(verified).toMatchObject({ status: 'verified', result_code: 10_000 });
      expect(verified.group_id).toMatch(/^group-\d{14}-[a-z0-9]{5}$/);
      expect(await shown(call, session_id, { result_code: 1 })).toEqual(verified);
    });
    test('200 failed, whatever result code the client tells', async () => {
      const { session_id, h5_link } = await started();
      await decideOn(h5_link, 'reject');
      expect(await shown(call, session_id, { result_code: 10_000 })).toMatchObject({
        status: 'failed',
        group_id: '',
        result_code: 10_001,
      });
    });
    test('200 expired when the provider says so', async () => {
      const { session_id } = await started('%5B%5Bexpire%5D%5D');
      const status = async () => (await shown(call, session_id)).status;
      await expect.poll(status, { timeout: 5_000, interval: 100 }).toBe('expired');
    });
    test('400 an id with a NUL character', async () => {
      expectError(await call({ path: { session_id: 'a\0b' } }), 400, { field: 'session_id' });
    });
    test('404 a session that nobody has, and one that is another user’s', async () => {
      const { session_id } = await started();
      expectError(await call({ path: { session_id: 'vs_none' } }), 404, { field: 'session_id' });
      expectError(await call({ path: { session_id }, as: 'noQuota' }), 404, { field: 'session_id' });
    });
    test.each([
      [429, 'poll-throttle'],
      [502, 'poll-error'],
      [502, 'poll-malformed'],
      [502, 'poll-drop'],
    ])('%i on [[%s]], and then all goes on', async (status, word) => {
      const { session_id } = await started(`%5B%5B${word}%5D%5D`);
      expectError(await call({ path: { session_id } }), status);
      expect(await shown(call, session_id)).toMatchObject({ status: 'pending' });
    });
    test('502 when the provider knows the session no more', async () => {
      const { session_id } = await started('%5B%5Bunknown%5D%5D');
      expectError(await call({ path: { session_id } }), 502);
    });
  },
});
