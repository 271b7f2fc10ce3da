import { expect, inject, test } from 'vitest';
import type { operations } from '../../../generated/http.ts';
import { documented } from '../../conformance/contract/documented.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { newToken, newUser } from '../../support/operator.ts';

type Usage = operations['getMyUsage']['responses'][200]['content']['application/json']['data'];

describeOperation('getMyUsage', {
  invalid: {
    'an unknown grouping': { query: { by: 'week' }, field: 'by.0' },
    'a grouping of the operator': { query: { by: 'channel' }, field: 'by.0' },
    'three groupings': { query: { by: ['hour', 'model', 'key'] }, field: 'by', limit: 2 },
    'a time that is not a number': { query: { since: 'yesterday' }, field: 'since' },
    'an unknown time zone': { query: { time_zone: 'Europe/Nowhere' }, field: 'time_zone' },
    'a key id of 0': { query: { token_id: 0 }, field: 'token_id', limit: 1 },
    'an account id of 0': { query: { account_id: 0 }, field: 'account_id', limit: 1 },
    'a member id of 0': { query: { member_id: 0 }, field: 'member_id', limit: 1 },
  },
  gatewayTests(call) {
    const target = inject('gateway');

    test('counts the calls of all keys of the user in all groups, and no others', async () => {
      const user = await newUser(target);
      const [first, second] = [
        await newToken(target, user.id, { unlimited_quota: true }),
        await newToken(target, user.id, { remain_quota: 1_000_000 }),
      ];
      const speak = async (key: string, model: string) => {
        const body = { model, voice: 'Aria', input: 'Nine char' };
        const response = await exchange({ ...target, key }, documented('createSpeech'), { body });
        expect(response.status, response.body.toString()).toBe(200);
      };
      const usage = async (key: string, query: Record<string, string | number | string[]> = {}) =>
        dataOf<Usage>(await call({ headers: { authorization: `Bearer ${key}` }, query }));
      expect(await usage(first.key)).toMatchObject({ items: [], sum: { requests: 0, quota: 0, units: {} } });
      for (const { key } of [first, second, second]) await speak(key, 'alpha3-tts-flash');
      expect(await usage(first.key)).toMatchObject({
        items: [{ requests: 3 }],
        sum: { requests: 3, errors: 0, quota: 27, units: { characters: 27 } },
      });
      expect((await usage(first.key, { by: 'key' })).items).toMatchObject([
        { token_id: first.id, requests: 1 },
        { token_id: second.id, requests: 2 },
      ]);
      expect((await usage(first.key, { by: ['model', 'operation'] })).items).toMatchObject([
        { model: 'alpha3-tts-flash', operation: 'createSpeech', requests: 3 },
      ]);
      expect((await usage(first.key, { token_id: second.id })).sum.requests).toBe(2);
      expect((await usage(first.key, { model: 'voxa-v2' })).items).toEqual([]);
      // A key with limits sees only its own calls.
      expect((await usage(second.key)).sum.requests).toBe(2);
      expect((await usage(second.key, { token_id: first.id })).sum.requests).toBe(0);
    });

    test('returns the days of a time zone', async () => {
      const user = await newUser(target);
      const { key } = await newToken(target, user.id, { unlimited_quota: true });
      const body = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Nine char' };
      expect((await exchange({ ...target, key }, documented('createSpeech'), { body })).status).toBe(200);
      for (const [zone, offset] of [
        ['UTC', 0],
        ['Asia/Tokyo', 9],
        ['Pacific/Honolulu', -10],
      ] as const) {
        const headers = { authorization: `Bearer ${key}` };
        const query = { by: 'day', time_zone: zone };
        const { items } = dataOf<Usage>(await call({ headers, query }));
        expect(items).toMatchObject([{ requests: 1 }]);
        const day = items[0]?.day ?? 0;
        expect((day + offset * 3600) % 86_400, zone).toBe(0);
        const age = Date.now() / 1000 - day;
        expect(age, zone).toBeGreaterThan(0);
        expect(age, zone).toBeLessThan(86_400 + 3_600);
      }
    });

    test('returns whole hours with their bounds', async () => {
      const { since, until, items } = dataOf<Usage>(
        await call({ query: { since: 1790000001, until: 1790003601 } }),
      );
      expect([since, until, items]).toEqual([1789999200, 1790006400, []]);
      const latest = dataOf<Usage>(await call());
      expect([latest.until - latest.since, latest.until % 3600]).toEqual([86_400, 0]);
    });
  },
});
