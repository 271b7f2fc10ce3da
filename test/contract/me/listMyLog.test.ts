import { beforeAll, expect, inject, test } from 'vitest';
import type { operations } from '../../../generated/http.ts';
import { documented } from '../../conformance/contract/documented.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { newToken, newUser } from '../../support/operator.ts';

type Page = operations['listMyLog']['responses'][200]['content']['application/json']['data'];
type Query = Record<string, string | number>;

describeOperation('listMyLog', {
  invalid: {
    'an unknown format': { query: { format: 'xlsx' }, field: 'format' },
    'a cursor of 0': { query: { after: 0 }, field: 'after', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
    'an unknown state': { query: { state: 'done' }, field: 'state' },
    'a key id of 0': { query: { token_id: 0 }, field: 'token_id', limit: 1 },
    'an empty range': { query: { since: 1790000000, until: 1790000000 }, field: 'until' },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    // A spreadsheet formula, and separators of fields.
    const name = '=1+"a;b",c';
    let key: string;
    let tokenId: number;
    let stranger: string;
    const requestIds: string[] = [];
    beforeAll(async () => {
      const user = await newUser(target);
      ({ key, id: tokenId } = await newToken(target, user.id, { name, unlimited_quota: true }));
      ({ key: stranger } = await newToken(target, (await newUser(target)).id, { unlimited_quota: true }));
      for (const model of ['alpha3-tts-flash', 'alpha3-tts-flash', 'voxa-v2']) {
        const body = { model, voice: model === 'voxa-v2' ? 'voxa-warm' : 'Aria', input: 'Nine char' };
        const response = await exchange({ ...target, key }, documented('createSpeech'), { body });
        requestIds.unshift(response.headers.get('x-request-id') ?? '');
      }
    });
    const send = (query: Query = {}, as = key, headers = {}) =>
      call({ query, headers: { authorization: `Bearer ${as}`, ...headers } });
    const pageOf = async (query: Query = {}, as = key) => dataOf<Page>(await send(query, as));

    test('lists the entries, newest first, with their cost', async () => {
      const { items, last_id, has_more } = await pageOf({ model: 'alpha3-tts-flash', page_size: 1 });
      expect(items).toEqual([
        {
          id: expect.any(Number),
          created_at: expect.any(Number),
          request_id: requestIds[1],
          task_id: null,
          token_id: tokenId,
          token_name: name,
          model_name: 'alpha3-tts-flash',
          operation: 'createSpeech',
          status: 200,
          state: 'completed',
          error_code: null,
          unit: 'characters',
          units: 9,
          prompt_tokens: 0,
          completion_tokens: 0,
          unit_price: 1,
          price_rule: null,
          group_ratio: 1,
          quota: 9,
          debt: 0,
          refunded: 0,
          duration_ms: expect.any(Number),
        },
      ]);
      expect([last_id, has_more]).toEqual([items[0]?.id, true]);
      const next = await pageOf({ model: 'alpha3-tts-flash', page_size: 1, after: last_id ?? 0 });
      expect(next).toMatchObject({ items: [{ request_id: requestIds[2] }], has_more: false });
      expect(await pageOf({ after: next.last_id ?? 0 })).toEqual({
        items: [],
        last_id: null,
        has_more: false,
      });
    });

    test('exports all entries as CSV, with formulas escaped', async () => {
      const { items } = await pageOf({ state: 'completed', model: 'alpha3-tts-flash' });
      expect(items).toHaveLength(2);
      const header = Object.keys(items[0] ?? {}).join();
      const line = (entry: object) =>
        Object.values(entry)
          .map((value) => (typeof value === 'string' ? quoted(value) : String(value ?? '')))
          .join();
      const query = { state: 'completed', model: 'alpha3-tts-flash', page_size: 1 };
      for (const response of [
        await send({ ...query, format: 'csv' }),
        await send(query, key, { accept: 'text/csv, */*' }),
      ]) {
        expect(response.headers.get('content-disposition')).toBe('attachment; filename="log.csv"');
        expect(response.body.toString('utf8').split('\r\n')).toEqual([header, ...items.map(line), '']);
      }
      const forced = await send({ format: 'json' }, key, { accept: 'text/csv' });
      expect(dataOf<Page>(forced).items).toHaveLength((await pageOf()).items.length);
    });

    test('applies its filters', async () => {
      const all = await pageOf();
      expect(all.items.every(({ token_id }) => token_id === tokenId)).toBe(true);
      const count = all.items.length;
      const cases: [Query, number][] = [
        [{ token_id: tokenId, since: 1 }, count],
        [{ token_id: tokenId + 1 }, 0],
        [{ until: 1 }, 0],
        [{ since: 8640000000000 }, 0],
        [{ model: 'none' }, 0],
        [{ state: 'canceled' }, 0],
      ];
      for (const [query, length] of cases)
        expect((await pageOf(query)).items, JSON.stringify(query)).toHaveLength(length);
    });

    test('shows nothing of another user', async () => {
      expect((await pageOf({}, stranger)).items).toEqual([]);
      expect((await pageOf({ token_id: tokenId }, stranger)).items).toEqual([]);
      const csv = await send({ format: 'csv', token_id: tokenId }, stranger);
      expect(csv.body.toString('utf8').trim().split('\r\n')).toHaveLength(1);
    });
  },
});

const quoted = (text: string) => `"${text.startsWith('=') ? "'" : ''}${text.replaceAll('"', '""')}"`;
