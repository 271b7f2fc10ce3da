import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';

interface Page {
  data: { items: Record<string, unknown>[]; total: number };
}
const pageOf = (response: HttpResponse) => {
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as Page).data;
};

describeOperation('searchLogs', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 0': { query: { page_size: 0 }, field: 'page_size', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
    'a keyword of 129 characters': { query: { keyword: 'k'.repeat(129) }, field: 'keyword', limit: 128 },
    'a start below zero': { query: { start: -1 }, field: 'start', limit: 0 },
    'an unknown state': { query: { state: 'done' }, field: 'state' },
    'an empty model': { query: { model: '' }, field: 'model', limit: 1 },
    'a key id of 0': { query: { token_id: 0 }, field: 'token_id', limit: 1 },
    'a cursor that is not a number': { query: { after: 'last' }, field: 'after' },
    'a start that is not a number': { query: { start: 'today' }, field: 'start' },
  },
  gatewayTests(call) {
    test('finds calls by key, model and state, and continues after an entry', async () => {
      const target = inject('gateway');
      const body = { name: 'filtered', remain_quota: 1_000 };
      const created = jsonOf(await exchange(target, documented('createToken'), { body }));
      const { id: token_id, key } = (created as { data: { id: number; key: string } }).data;
      for (const model of ['alpha3-tts-flash', 'alpha3-tts-flash', 'voxa-v2']) {
        const speech = { model, voice: 'Aria', input: 'Hi.' };
        await exchange({ ...target, key }, documented('createSpeech'), { body: speech });
      }
      const found = async (query: Record<string, string | number>) =>
        pageOf(await call({ query: { token_id, ...query } }));
      const all = await found({});
      expect(all.total).toBe(all.items.length);
      expect(all.items.length).toBeGreaterThan(1);
      expect(await found({ model: 'alpha3-tts-flash', state: 'completed' })).toMatchObject({
        items: [{ model_name: 'alpha3-tts-flash' }, { model_name: 'alpha3-tts-flash' }],
        total: 2,
      });
      expect(await found({ model: 'alpha3-tts-flash', state: 'failed' })).toEqual({ items: [], total: 0 });
      const after = Number(all.items[0]?.id);
      expect(await found({ after })).toEqual({ items: all.items.slice(1), total: all.total });
      expect(await found({ token_id: 9_007_199_254_740_991 })).toEqual({ items: [], total: 0 });
    });

    test('finds a call with its key, model, request id and cost', async () => {
      const name = `log ${crypto.randomUUID()}`;
      const target = inject('gateway');
      const body = { name, remain_quota: 1_000 };
      const createdToken = jsonOf(await exchange(target, documented('createToken'), { body })) as {
        data: { key: string };
      };
      const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Nine char' };
      const speechResponse = await exchange(
        { ...target, key: createdToken.data.key },
        documented('createSpeech'),
        {
          body: speech,
        },
      );
      expect(speechResponse.status).toBe(200);
      const requestId = speechResponse.headers.get('x-request-id') ?? '';
      const item = {
        id: expect.any(Number),
        user_id: 1,
        prompt_tokens: 9,
        completion_tokens: 0,
        quota: 9,
        debt: 0,
        created_at: expect.any(Number),
        token_name: name,
        model_name: 'alpha3-tts-flash',
        request_id: requestId,
        task_id: null,
        state: 'completed',
        unit_price: 1,
        price_rule: null,
        group_ratio: 1,
        refunded: 0,
        unit: 'characters',
        duration_ms: expect.any(Number),
        sandbox: true,
      };
      for (const keyword of [
        name,
        name.toUpperCase(),
        name.slice(4, 20),
        requestId,
        requestId.slice(0, 24),
      ]) {
        const response = await call({ query: { keyword } });
        expect(jsonOf(response)).toEqual({ success: true, message: '', data: { items: [item], total: 1 } });
      }
      const [found] = pageOf(await call({ query: { keyword: requestId } })).items;
      const at = Number(found?.created_at);
      for (const [start, end, total] of [
        [at, at + 1, 1],
        [at + 1, at + 2, 0],
        [at - 1, at, 0],
      ] as const)
        expect(pageOf(await call({ query: { keyword: name, start, end } })).total).toBe(total);
      expect(pageOf(await call({ query: { keyword: 'ALPHA3-tts', page_size: 1 } })).items).toHaveLength(1);
      for (const end of [at, at - 1]) {
        const refused = await call({ query: { start: at, end } });
        expectError(refused, 400, { field: 'end', includes: [String(at)] });
      }
      // Other users do not see it.
      expect(pageOf(await call({ query: { keyword: requestId }, as: 'noQuota' }))).toEqual({
        items: [],
        total: 0,
      });
    });

    test('returns 20 entries by default, and none after the last page', async () => {
      const { items, total } = pageOf(await call());
      expect(items.length).toBe(Math.min(20, total));
      const behind = pageOf(await call({ query: { p: 2147483647, page_size: 1000 } }));
      expect(behind).toEqual({ items: [], total: expect.any(Number) });
    });

    test.each(['%', '_____', '\\', "' or 1=1 --", '*', '日'.repeat(128)])(
      'finds nothing for %s, which is not a wildcard',
      async (keyword) => expect(pageOf(await call({ query: { keyword }, as: 'noQuota' })).total).toBe(0),
    );

    test('400 a control character', async () => {
      expectError(await call({ query: { keyword: 'a\0b' } }), 400, { field: 'keyword' });
    });
  },
});
