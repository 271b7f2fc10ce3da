import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken, newUser, type Token } from '../../support/operator.ts';

interface Grant {
  id: number;
  remain_quota: number;
}
const grantOf = (answer: HttpResponse) => {
  expect(answer.status, answer.body.toString()).toBe(200);
  return (jsonOf(answer) as { data: Grant }).data;
};

describeOperation('grantQuota', {
  invalid: {
    'an id that is no number': { path: { id: 'mine' }, field: 'id' },
    'no amount': { body: { reason: 'r' }, field: 'amount' },
    'an amount with a fraction': { body: { amount: 1.5, reason: 'r' }, field: 'amount' },
    'no reason': { body: { amount: 1 }, field: 'reason' },
    'an empty reason': { body: { amount: 1, reason: '' }, field: 'reason', limit: 1 },
    'a field that there is not': { body: { amount: 1, reason: 'r', unit: 'cent' }, field: 'unit' },
    'a name of 256 characters': {
      headers: { 'idempotency-key': 'n'.repeat(256) },
      field: 'idempotency-key',
      limit: 255,
    },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const at = ({ id }: Token) => ({ path: { id: String(id) } });

    test('quota, and takes some back, down to nothing and no further', async () => {
      const token = await newToken(target, 1);
      const given = grantOf(await call({ ...at(token), example: 'given' }));
      expect(given).toEqual({
        id: expect.any(Number),
        token_id: token.id,
        amount: 50_000,
        reason: 'March',
        created_at: expect.any(Number),
        remain_quota: 50_000,
        debt_settled: 0,
        debt: 0,
      });
      expect(grantOf(await call({ ...at(token), example: 'taken' })).remain_quota).toBe(49_900);
      const body = { amount: -49_901, reason: 'all' };
      expectError(await call({ ...at(token), body }), 403, { field: 'amount', includes: ['49900'] });
      expect(grantOf(await call({ ...at(token), body: { ...body, amount: -49_900 } })).remain_quota).toBe(0);
      const query = { subject: `token ${token.id}`, action: 'grantQuota' };
      expect(await callAdmin(target, 'listChanges', { query })).toMatchObject({
        items: [
          { details: { amount: -49_900, reason: 'all', left: 0 } },
          { details: { amount: -100, reason: 'Granted twice', left: 49_900 } },
          { details: { amount: 50_000, reason: 'March', left: 50_000 } },
        ],
        total: 3,
      });
    });

    test('takes back quota that a gateway has leased', async () => {
      const token = await newToken(target, 1, { remain_quota: 1_000 });
      const headers = { authorization: `Bearer ${token.key}` };
      // The second use within a minute is worth a lease.
      for (const input of ['One', 'Two']) {
        const spoken = { model: 'alpha3-tts-flash', voice: 'Aria', input };
        const answer = await exchange(target, documented('createSpeech'), { headers, body: spoken });
        expect(answer.status).toBe(200);
      }
      const body = { amount: -994, reason: 'all of it' };
      expect(grantOf(await call({ ...at(token), body })).remain_quota).toBe(0);
    });

    test('no more than a key may have', async () => {
      const token = await newToken(target, 1, { remain_quota: 1 });
      const body = { amount: 10 ** 15, reason: 'much' };
      expectError(await call({ ...at(token), body }), 400, { field: 'amount', includes: [String(10 ** 15)] });
      const most = { ...body, amount: 10 ** 15 - 1 };
      expect(grantOf(await call({ ...at(token), body: most })).remain_quota).toBe(10 ** 15);
    });

    test('once under a name, whatever comes in between', async () => {
      const token = await newToken(target, 1);
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const body = { amount: 40, reason: 'once' };
      const given = grantOf(await call({ ...at(token), headers, body }));
      expect(grantOf(await call({ ...at(token), headers, body }))).toEqual(given);
      grantOf(await call({ ...at(token), body }));
      expect(grantOf(await call({ ...at(token), headers, body }))).toEqual({ ...given, remain_quota: 80 });
      const other = await newToken(target, 1);
      for (const [of, changed] of [
        [token, { ...body, amount: 41 }],
        [token, { ...body, reason: 'twice' }],
        [other, body],
      ] as const)
        expectError(await call({ ...at(of), headers, body: changed }), 400, { field: 'idempotency-key' });
      // Other admins have names of their own.
      const admin = await newUser(target, { role: 'admin' });
      const { key } = await newToken(target, admin.id, { unlimited_quota: true, admin: true });
      const theirs = { ...headers, authorization: `Bearer ${key}` };
      expect(grantOf(await call({ ...at(token), headers: theirs, body })).remain_quota).toBe(120);
      // A refused one leaves its name free.
      const free = { 'idempotency-key': crypto.randomUUID() };
      const all = { amount: -1, reason: 'r' };
      expectError(await call({ ...at(other), headers: free, body: all }), 403, { field: 'amount' });
      grantOf(await call({ ...at(other), headers: free, body }));
      // What was given is told when the key is gone, too.
      await callAdmin(target, 'revokeToken', at(token));
      expect(grantOf(await call({ ...at(token), headers, body })).id).toBe(given.id);
      expectError(await call({ ...at(token), body }), 404, { field: 'id' });
    });

    test('400 for a grant of nothing', async () => {
      const answer = await call({ body: { amount: 0, reason: 'r' } });
      expectError(answer, 400, { field: 'amount', includes: ['0'] });
    });
    test('404 for a key that there is not', async () => {
      expectError(await call({ path: { id: String(Number.MAX_SAFE_INTEGER) } }), 404, { field: 'id' });
    });
  },
});
