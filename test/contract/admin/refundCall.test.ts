import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken } from '../../support/operator.ts';

const refundOf = (response: HttpResponse) => {
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as { data: Record<string, unknown> }).data;
};

describeOperation('refundCall', {
  invalid: {
    'no reason': { body: {}, field: 'reason' },
    'an empty reason': { body: { reason: '' }, field: 'reason', limit: 1 },
    'an amount of 0': { body: { amount: 0, reason: 'r' }, field: 'amount', limit: 1 },
    'an amount with a fraction': { body: { amount: 1.5, reason: 'r' }, field: 'amount' },
    'an unknown field': { body: { reason: 'r', unit: 'cent' }, field: 'unit' },
    'an idempotency key of 256 characters': {
      headers: { 'idempotency-key': 'n'.repeat(256) },
      field: 'idempotency-key',
      limit: 255,
    },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    /** Spends 9 units of a new key. Returns the key and the request id. */
    const spend = async (fields = {}) => {
      const token = await newToken(target, 1, { remain_quota: 100, ...fields });
      const body = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Nine char' };
      const speech = await exchange({ ...target, key: token.key }, documented('createSpeech'), { body });
      expect(speech.status).toBe(200);
      return { token, id: speech.headers.get('x-request-id') ?? '' };
    };

    test('refunds a call once, visible in the log, the figures, the export, the changes and the audit', async () => {
      const { token, id } = await spend();
      const before = await callAdmin<{ sum: { refunded: number } }>(target, 'showFigures');
      expect(refundOf(await call({ path: { id }, example: 'all' }))).toEqual({
        request_id: id,
        token_id: token.id,
        charged: 9,
        amount: 9,
        reason: 'The provider delivered silence',
        created_at: expect.any(Number),
        credited_to: token.id,
        remain_quota: 100,
        wallet_balance: null,
      });
      const again = await call({ path: { id }, example: 'part' });
      expectError(again, 400, { field: 'id', includes: ['refunded already', '9'] });
      const search = await callAdmin(target, 'searchLogs', { query: { keyword: id } });
      expect(search).toMatchObject({ items: [{ quota: 9, refunded: 9 }] });
      const exported = await exchange(target, documented('exportLogs'), { query: { request_id: id } });
      expect(JSON.parse(exported.body.toString())).toMatchObject({ quota: 9, refunded: 9 });
      const after = await callAdmin<{ sum: { refunded: number } }>(target, 'showFigures');
      expect(after.sum.refunded).toBeGreaterThanOrEqual(before.sum.refunded + 9);
      const details = { amount: 9, charged: 9, token_id: token.id, reason: 'The provider delivered silence' };
      expect(await callAdmin(target, 'listChanges', { query: { subject: `request ${id}` } })).toMatchObject({
        items: [{ action: 'refundCall', details }],
        total: 1,
      });
      expect(await callAdmin(target, 'auditBooks')).toMatchObject({ problems: [] });
    });

    test('refunds a part, up to the charge', async () => {
      const { id } = await spend();
      const excess = await call({ path: { id }, body: { amount: 10, reason: 'r' } });
      expectError(excess, 400, { field: 'amount', includes: ['9'] });
      expect(refundOf(await call({ path: { id }, example: 'part' }))).toMatchObject({
        amount: 1,
        remain_quota: 92,
      });
    });

    test('returns the same refund for an idempotency key, and rejects the key for another call', async () => {
      const [{ id }, other] = [await spend(), await spend()];
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const refund = refundOf(await call({ path: { id }, headers, example: 'all' }));
      expect(refundOf(await call({ path: { id }, headers, example: 'all' }))).toEqual(refund);
      for (const [path, example] of [
        [{ id }, 'part'],
        [{ id: other.id }, 'all'],
      ] as const)
        expectError(await call({ path, headers, example }), 400, { field: 'idempotency-key' });
    });

    test('corrects the used quota of an unlimited key', async () => {
      const { id } = await spend({ remain_quota: undefined, unlimited_quota: true });
      expect(refundOf(await call({ path: { id }, example: 'all' }))).toMatchObject({
        amount: 9,
        credited_to: null,
        remain_quota: null,
      });
    });

    test('404 for an unknown call, 400 for one without a charge', async () => {
      expectError(await call({ path: { id: 'req_none' }, example: 'all' }), 404, { field: 'id' });
      const token = await newToken(target, 1, { remain_quota: 100 });
      const body = { model: 'alpha3-tts-flash', voice: 'Aria', input: '[[reject]] Nine' };
      const refused = await exchange({ ...target, key: token.key }, documented('createSpeech'), { body });
      expect(refused.status).toBeGreaterThanOrEqual(400);
      const id = refused.headers.get('x-request-id') ?? '';
      expectError(await call({ path: { id }, example: 'all' }), 400, { field: 'id', includes: ['nothing'] });
    });
  },
});
