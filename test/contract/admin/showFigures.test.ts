import { expect, inject, test, vi } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { callAdmin } from '../../support/operator.ts';

interface Figures {
  requests: number;
  errors: number;
  quota: number;
  units: Record<string, number>;
  latency: Record<string, number>;
}
interface Data {
  since: number;
  until: number;
  items: (Figures & Record<string, unknown>)[];
  sum: Figures;
}
const dataOf = (response: HttpResponse) => {
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as { data: Data }).data;
};
const speak = (input: string, model = 'alpha3-tts-flash') =>
  exchange(inject('gateway'), documented('createSpeech'), { body: { model, voice: 'Aria', input } });

describeOperation('showFigures', {
  invalid: {
    'an unknown grouping': { query: { by: 'week' }, field: 'by.0' },
    'three groupings': { query: { by: ['hour', 'model', 'user'] }, field: 'by', limit: 2 },
    'a time that is not a number': { query: { since: 'yesterday' }, field: 'since' },
    'a user id of 0': { query: { user_id: 0 }, field: 'user_id', limit: 1 },
    'no model': { query: { model: '' }, field: 'model', limit: 1 },
  },
  gatewayTests(call) {
    test('counts a failed task as an error, like the log and the export, but not a canceled one', async () => {
      const target = inject('gateway');
      const query = { operation: 'createVideo', model: 'gamma3.0-video' };
      const before = dataOf(await call({ query })).sum;
      const create = async (prompt: string) => {
        const body = { model: 'gamma3.0-video', prompt };
        const created = await exchange(target, documented('createVideo'), { body });
        expect(created.status, created.body.toString()).toBe(200);
        return (jsonOf(created) as { id: string }).id;
      };
      const entryOf = async (keyword: string) => {
        const { items } = await callAdmin<{ items: Record<string, unknown>[] }>(target, 'searchLogs', {
          query: { keyword },
        });
        expect(items).toHaveLength(1);
        return items[0];
      };
      const [failed, canceled] = [await create('A boat. [[fail-late]]'), await create('A boat. [[queued]]')];
      await callAdmin(target, 'cancelTask', { path: { id: canceled } });
      await vi.waitFor(
        async () => expect(await entryOf(failed)).toMatchObject({ state: 'failed', quota: 0 }),
        30_000,
      );
      expect(await entryOf(canceled)).toMatchObject({ task_id: canceled, state: 'canceled', quota: 0 });
      const after = dataOf(await call({ query })).sum;
      expect([after.requests - before.requests, after.errors - before.errors]).toEqual([2, 1]);
      const lines = async (task: string) => {
        const exported = await exchange(target, documented('exportLogs'), {
          query: { errors: 'true', task_id: task },
        });
        return exported.body.toString();
      };
      expect(JSON.parse(await lines(failed))).toMatchObject({
        task_id: failed,
        status: 200,
        state: 'failed',
      });
      expect(await lines(canceled)).toBe('');
    });

    test('counts a call immediately in all groups', async () => {
      const query = { operation: 'createSpeech', model: 'alpha3-tts-flash' };
      const before = dataOf(await call({ query }));
      expect((await speak('Nine char')).status).toBe(200);
      const after = dataOf(await call({ query }));
      expect(after.items).toHaveLength(1);
      expect(after.items[0]).toEqual(after.sum);
      const { requests, quota, units, errors } = after.sum;
      expect([requests, quota, units.characters, errors]).toEqual([
        before.sum.requests + 1,
        before.sum.quota + 9,
        (before.sum.units.characters ?? 0) + 9,
        before.sum.errors,
      ]);
      const { mean_ms = 0, p50_ms = 0, p95_ms = 0, max_ms = 0 } = after.sum.latency;
      expect(p50_ms).toBeLessThanOrEqual(p95_ms);
      expect(p95_ms).toBeLessThanOrEqual(max_ms);
      expect(mean_ms).toBeLessThanOrEqual(max_ms);
      const groupings = {
        hour: expect.any(Number),
        day: expect.any(Number),
        model: 'alpha3-tts-flash',
        channel: expect.any(String),
        operation: 'createSpeech',
      };
      const own = dataOf(await call({ query: { ...query, user_id: 1 } }));
      for (const [by, value] of Object.entries(groupings)) {
        const grouped = dataOf(await call({ query: { ...query, by, user_id: 1 } }));
        expect(grouped.items.at(-1)).toMatchObject({ [by]: value });
        expect(grouped.items.reduce((sum, item) => sum + item.requests, 0)).toBe(own.sum.requests);
      }
      const byHourAndUser = dataOf(await call({ query: { ...query, by: ['hour', 'user'] } }));
      expect(byHourAndUser.items).toContainEqual(
        expect.objectContaining({ hour: expect.any(Number), user_id: 1 }),
      );
    });

    test('returns whole hours with their bounds', async () => {
      const roundedRange = dataOf(await call({ query: { since: 1790000001, until: 1790003601 } }));
      expect([roundedRange.since, roundedRange.until]).toEqual([1789999200, 1790006400]);
      expect(roundedRange.items).toEqual([]);
      const reversedRange = dataOf(
        await call({ query: { since: 1789999200 + 40 * 60, until: 1790002800 + 10 * 60 } }),
      );
      expect([reversedRange.since, reversedRange.until]).toEqual([1789999200, 1790006400]);
      expect(roundedRange.sum).toMatchObject({ requests: 0, units: {}, latency: { mean_ms: 0, max_ms: 0 } });
      const { since, until } = dataOf(await call());
      expect([until - since, until % 3600]).toEqual([86_400, 0]);
      expect(until).toBeGreaterThanOrEqual(Date.now() / 1000);
      // A range that ends before its start is empty.
      expect(dataOf(await call({ query: { since: 8640000000000, until: 0 } })).items).toEqual([]);
    });
  },
});
