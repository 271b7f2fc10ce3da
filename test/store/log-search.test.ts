import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { FinalState } from '../../server/store/schema.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from './engines.ts';
import { logEntry, makeToken } from './ledger.ts';
import { insertLogEntries, runStatement } from './raw-rows.ts';

const models = ['alpha3-tts-flash', 'voxa-v2', 'gamma3.0-video', '100%_free', 'Émile\\'];
const names = ['front end', 'FRONT desk', 'straße', 'a%b_c\\d', 'req_0199aa00bb00 key', '日本語'];
const ofNames = [
  '',
  'front',
  'FRONT END',
  'f',
  '-',
  '%',
  '_',
  '\\',
  '*',
  '日',
  'STRASSE',
  'STRAßE',
  'émile',
  'ÉMILE\\',
];
const odd = [
  'alpha3-tts-flash',
  'VOXA',
  ' ',
  "'",
  '"',
  '--',
  'nothing',
  'key',
  'x'.repeat(128),
  '日'.repeat(128),
];
const ofIds = [
  'req_',
  'req_0',
  'req_0199aa00bb0',
  'req_0199aa00bb00',
  'REQ_0199AA00BB01',
  'req_0199aa00bb01c',
  'req_%',
];

const firstAt = 1_700_000_000;
const taskOf = (id: number) => `task_${id.toString(16).padStart(32, '0')}`;

/** Rows of several buckets, some of them almost empty, of two users who use the same models. */
function rowsOf(tokens: readonly TokenRecord[]) {
  const starts = [1, 16_380, 16_384 * 5, 16_384 * 9 + 1];
  let random = 7;
  const next = (below: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  return starts.flatMap((start, block) =>
    Array.from({ length: block === 2 ? 2 : 60 }, (_, index) => {
      const token = tokens[next(tokens.length)] as TokenRecord;
      return {
        id: start + index,
        request_id: `req_0199aa00bb${String(next(3)).padStart(2, '0')}c${(start + index).toString(16).padStart(19, '0')}`,
        user_id: token.userId,
        token_id: token.id,
        token_name: token.name,
        model_name: models[next(models.length)] ?? '',
        operation: 'createSpeech',
        channel: 'c',
        status: 200,
        error_code: null,
        unit: 'characters',
        units: 1,
        prompt_tokens: 0,
        completion_tokens: 0,
        quota: 1,
        duration_ms: 1,
        // Roughly in the order of the ids, as the clocks of several gateways have it.
        created_at: firstAt + Math.floor((start + index) / 10) + next(40),
        state: index % 4 === 0 ? 'failed' : index % 7 === 0 ? 'canceled' : 'completed',
        task_id: index % 9 === 0 ? taskOf(start + index) : null,
      };
    }),
  );
}
type Row = ReturnType<typeof rowsOf>[number];

interface Filters {
  start?: number;
  end?: number;
  model?: string;
  state?: FinalState;
  tokenId?: number;
}

/** Filters the entries one by one. */
function expected(
  rows: readonly Row[],
  keyword: string,
  { start = 0, end = Infinity, model, state, tokenId }: Filters = {},
): number[] {
  const folded = keyword.toLowerCase();
  return rows
    .filter(({ created_at: at }) => at >= start && at < end)
    .filter((row) => model === undefined || row.model_name === model)
    .filter((row) => state === undefined || row.state === state)
    .filter((row) => tokenId === undefined || row.token_id === tokenId)
    .filter(
      ({ token_name: token, model_name: model, request_id: id }) =>
        token.toLowerCase().includes(folded) ||
        model.toLowerCase().includes(folded) ||
        (folded.length >= 16 && id.startsWith(folded)),
    )
    .map(({ id }) => id)
    .sort((left, right) => right - left);
}

describe.each(engines)('the log on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let rows: Row[];
  let userId: number;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    const [first, ...others] = names;
    const own = [await makeToken(store, { name: first })];
    userId = own[0]?.userId ?? 0;
    for (const name of others) own.push(await makeToken(store, { name, userId }));
    const stranger = await makeToken(store, { name: 'front end' });
    const all = rowsOf([...own, stranger]);
    rows = all.filter((row) => row.user_id === userId);
    expect(rows.length).toBeLessThan(all.length);
    await insertLogEntries(testStore, all);
    if (engine === 'postgres') await runStatement(testStore, `select setval('request_log_id_seq', 200000)`);
  });
  afterAll(() => testStore.remove());

  const search = async (keyword: string, offset = 0, limit = 1_000, range = {}) => {
    const { entries, total } = await store.report('searchLog', { userId, keyword, offset, limit, ...range });
    return { ids: entries.map(({ id }) => id), total };
  };

  test.each([...ofNames, ...odd, ...ofIds])(
    'finds %j in names, models and beginnings of request ids',
    async (keyword) => {
      const ids = expected(rows, keyword);
      expect(await search(keyword)).toEqual({ ids, total: ids.length });
    },
  );

  test('finds a whole request id', async () => {
    for (const { id, request_id: requestId } of rows.slice(0, 5))
      expect(await search(requestId)).toEqual({ ids: [id], total: 1 });
  });

  test.each(['', 'front', 'voxa', 'f', 'key', 'req_0199aa00bb00', 'req_0199aa00bb01'])(
    'returns every page of %j, however deep',
    async (keyword) => {
      const ids = expected(rows, keyword);
      for (const limit of [1, 7, 50, 1_000]) {
        for (let offset = 0; offset <= ids.length + limit; offset += limit === 1 ? 13 : limit)
          expect(await search(keyword, offset, limit)).toEqual({
            ids: ids.slice(offset, offset + limit),
            total: ids.length,
          });
      }
      expect(await search(keyword, 2_147_483_646 * 1_000)).toEqual({ ids: [], total: ids.length });
    },
  );

  test('finds a whole task id, with its page and within its time', async () => {
    for (const { id, task_id: taskId, created_at: at } of rows
      .filter((row) => row.task_id !== null)
      .slice(0, 5)) {
      const keyword = (taskId ?? '').toUpperCase();
      const found = { ids: [id], total: 1 };
      expect(await search(keyword)).toEqual(found);
      expect(await search(keyword, 0, 20, { start: at, end: at + 1 })).toEqual(found);
      expect(await search(keyword, 0, 20, { start: at + 1 })).toEqual({ ids: [], total: 0 });
      expect(await search(keyword.slice(0, -1))).toEqual({ ids: [], total: 0 });
    }
  });

  test('finds entries of a time range, the start included and the end excluded', async () => {
    const times = rows.map(({ created_at: at }) => at).toSorted((left, right) => left - right);
    const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0;
    const ranges = [
      { start: at(0), end: at(0.02) },
      { start: at(0.3), end: at(0.6) },
      { start: at(0.5) + 1, end: at(0.5) + 2 },
      { start: at(0.9) },
      { end: at(0.4) + 1 },
      { start: at(1) + 1 },
      { start: 0, end: 8_640_000_000_000 },
    ];
    for (const range of ranges)
      for (const keyword of ['', 'front', 'voxa', 'req_0199aa00bb00', 'nothing']) {
        const ids = expected(rows, keyword, range);
        expect(await search(keyword, 0, 1_000, range)).toEqual({ ids, total: ids.length });
        for (const offset of [1, 30, 1_000])
          expect(await search(keyword, offset, 7, range)).toEqual({
            ids: ids.slice(offset, offset + 7),
            total: ids.length,
          });
      }
  });

  test('finds entries of a model, a state and a key, page by page after an entry', async () => {
    const tokenId = rows[0]?.token_id ?? 0;
    const filters: Filters[] = [
      {},
      { state: 'failed' },
      { state: 'canceled', model: 'voxa-v2' },
      { model: '100%_free' },
      { model: 'voxa' },
      { tokenId },
      { tokenId, state: 'completed', model: 'Émile\\' },
      { tokenId: 4_711 },
      { state: 'failed', start: firstAt + 1_000, end: firstAt + 9_000 },
    ];
    for (const filter of filters)
      for (const keyword of ['', 'front', 'req_0199aa00bb00', 'nothing']) {
        const ids = expected(rows, keyword, filter);
        expect(await search(keyword, 0, 1_000, filter)).toEqual({ ids, total: ids.length });
        for (const limit of [1, 7, 1_000]) {
          for (let index = 0; index < ids.length; index += 11) {
            const after = ids[index] ?? 0;
            expect(await search(keyword, 0, limit, { ...filter, after })).toEqual({
              ids: ids.slice(index + 1, index + 1 + limit),
              total: ids.length,
            });
          }
        }
        // An entry that the search does not find is a position, too.
        const [first = 0] = ids;
        expect((await search(keyword, 1, 3, { ...filter, after: first + 1 })).ids).toEqual(ids.slice(1, 4));
        expect((await search(keyword, 0, 3, { ...filter, after: 2 ** 53 - 1 })).ids).toEqual(ids.slice(0, 3));
        expect((await search(keyword, 0, 3, { ...filter, after: 1 })).ids).toEqual([]);
      }
  });

  test('shows the evidence of an entry, and its refund', async () => {
    const token = await makeToken(store, { name: 'refunded', remainQuota: 10 });
    const ledger = new Ledger(store, 'here');
    await ledger.reserve({ requestId: 'r', token, model: 'm', unit: 'tokens', amount: 5 });
    const price = { unitPrice: 0.5, groupRatio: 2, group: 'trial', configRevision: 'abc' };
    const evidence = { ...price, state: 'completed', upstreamId: 'up' } as const;
    await ledger.settle({ requestId: 'r', charged: 5, log: { ...logEntry, evidence } });
    const change = { userId: 1, tokenId: 1, action: 'refundCall', now: 1 };
    await store.run('refundCall', { id: 'r', amount: 2, reason: 'r', idempotencyKey: null, change });
    const found = await store.report('searchLog', {
      userId: token.userId,
      keyword: '',
      offset: 0,
      limit: 20,
    });
    const shown = {
      quota: 5,
      refunded: 2,
      unit_price: 0.5,
      group_ratio: 2,
      state: 'completed',
      task_id: null,
    };
    expect(found.entries).toMatchObject([shown]);
    // The provider's own id is for operators only.
    expect(JSON.stringify(found)).not.toContain('up"');
  });

  test('finds nothing for a user without entries', async () => {
    const { userId: nobody } = await makeToken(store, { name: 'front end' });
    const found = await store.report('searchLog', { userId: nobody, keyword: '', offset: 0, limit: 20 });
    expect(found).toEqual({ entries: [], total: 0 });
  });

  test('finds calls that were just settled or have failed, during other writes, and for a deleted key', async () => {
    const token = await makeToken(store, { name: 'fresh', unlimitedQuota: true });
    const ledger = new Ledger(store, 'here');
    const found = async () => {
      const args = { userId: token.userId, keyword: 'FRESH', offset: 0, limit: 1_000 };
      return store.report('searchLog', args);
    };
    const one = async (index: number) => {
      const requestId = `fresh ${index}`;
      await ledger.reserve({ requestId, token, model: 'm', unit: 'tokens', amount: 1 });
      const log = { ...logEntry, promptTokens: 4, completionTokens: 3 };
      if (index % 3 === 0) await ledger.refund({ requestId, log });
      else await ledger.settle({ requestId, charged: 1, log });
      const { entries, total } = await found();
      expect(entries.map(({ request_id: id }) => id)).toContain(requestId);
      expect(entries.length).toBeLessThanOrEqual(total);
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => one(index)));
    await store.run('deleteToken', { id: token.id, userId: token.userId, by: null, now: 1 });
    const { entries, total } = await found();
    expect(total).toBe(20);
    expect(entries.filter(({ quota }) => quota === 0)).toHaveLength(7);
    expect(entries[0]).toMatchObject({
      token_name: 'fresh',
      model_name: 'm',
      prompt_tokens: 4,
      completion_tokens: 3,
    });
  });
});
