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
const grantOf = (response: HttpResponse) => {
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as { data: Grant }).data;
};

describeOperation('grantQuota', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'no amount': { body: { reason: 'r' }, field: 'amount' },
    'an amount with a fraction': { body: { amount: 1.5, reason: 'r' }, field: 'amount' },
    'no reason': { body: { amount: 1 }, field: 'reason' },
    'an empty reason': { body: { amount: 1, reason: '' }, field: 'reason', limit: 1 },
    'an unknown field': { body: { amount: 1, reason: 'r', unit: 'cent' }, field: 'unit' },
    'an idempotency key of 256 characters': {
      headers: { 'idempotency-key': 'n'.repeat(256) },
      field: 'idempotency-key',
      limit: 255,
    },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const at = ({ id }: Token) => ({ path: { id: String(id) } });

    test('grants quota and removes it, down to 0', async () => {
      const token = await newToken(target, 1);
      const grant = grantOf(await call({ ...at(token), example: 'given' }));
      expect(grant).toEqual({
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

    test('removes quota that a gateway has leased', async () => {
      const token = await newToken(target, 1, { remain_quota: 1_000 });
      const headers = { authorization: `Bearer ${token.key}` };
      // The second call within a minute causes a lease.
      for (const input of ['One', 'Two']) {
        const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input };
        const response = await exchange(target, documented('createSpeech'), { headers, body: speech });
        expect(response.status).toBe(200);
      }
      const body = { amount: -994, reason: 'all of it' };
      expect(grantOf(await call({ ...at(token), body })).remain_quota).toBe(0);
    });

    test('grants at most the maximum quota of a key', async () => {
      const token = await newToken(target, 1, { remain_quota: 1 });
      const body = { amount: 10 ** 15, reason: 'much' };
      expectError(await call({ ...at(token), body }), 400, { field: 'amount', includes: [String(10 ** 15)] });
      const maximum = { ...body, amount: 10 ** 15 - 1 };
      expect(grantOf(await call({ ...at(token), body: maximum })).remain_quota).toBe(10 ** 15);
    });

    test('applies an idempotency key once, also after other grants', async () => {
      const token = await newToken(target, 1);
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const body = { amount: 40, reason: 'once' };
      const grant = grantOf(await call({ ...at(token), headers, body }));
      expect(grantOf(await call({ ...at(token), headers, body }))).toEqual(grant);
      grantOf(await call({ ...at(token), body }));
      expect(grantOf(await call({ ...at(token), headers, body }))).toEqual({ ...grant, remain_quota: 80 });
      const other = await newToken(target, 1);
      for (const [grantedToken, changed] of [
        [token, { ...body, amount: 41 }],
        [token, { ...body, reason: 'twice' }],
        [other, body],
      ] as const)
        expectError(await call({ ...at(grantedToken), headers, body: changed }), 400, {
          field: 'idempotency-key',
        });
      // Idempotency keys of other admins are independent.
      const admin = await newUser(target, { role: 'admin' });
      const { key } = await newToken(target, admin.id, { unlimited_quota: true, admin: true });
      const otherHeaders = { ...headers, authorization: `Bearer ${key}` };
      expect(grantOf(await call({ ...at(token), headers: otherHeaders, body })).remain_quota).toBe(120);
      // A rejected grant does not use its idempotency key.
      const newKey = { 'idempotency-key': crypto.randomUUID() };
      const all = { amount: -1, reason: 'r' };
      expectError(await call({ ...at(other), headers: newKey, body: all }), 403, { field: 'amount' });
      grantOf(await call({ ...at(other), headers: newKey, body }));
      // A repeated grant returns the same result after the key was revoked.
      await callAdmin(target, 'revokeToken', at(token));
      expect(grantOf(await call({ ...at(token), headers, body })).id).toBe(grant.id);
      expectError(await call({ ...at(token), body }), 404, { field: 'id' });
    });

    test('400 for a grant of 0', async () => {
      const response = await call({ body: { amount: 0, reason: 'r' } });
      expectError(response, 400, { field: 'amount', includes: ['0'] });
    });
    test('404 for an unknown key', async () => {
      expectError(await call({ path: { id: String(Number.MAX_SAFE_INTEGER) } }), 404, { field: 'id' });
    });
  },
});
