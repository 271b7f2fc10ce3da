import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Ledger } from '../../server/ledger/ledger.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { logEntry, makeToken } from './books.ts';
import { engines, TestStore } from './engines.ts';
import { insertRows, runStatement } from './raw-rows.ts';

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
        created_at: 1_700_000_000,
      };
    }),
  );
}
type Row = ReturnType<typeof rowsOf>[number];

/** What is to be found, the slow way. */
function expected(rows: readonly Row[], keyword: string): number[] {
  const folded = keyword.toLowerCase();
  return rows
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
    await insertRows(testStore, 'request_log', all);
    if (engine === 'postgres') await runStatement(testStore, `select setval('request_log_id_seq', 200000)`);
  });
  afterAll(() => testStore.remove());

  const search = async (keyword: string, offset = 0, limit = 1_000) => {
    const { entries, total } = await store.report('searchLog', { userId, keyword, offset, limit });
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
    'gives every page of %j, however deep',
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

  test('finds nothing of a user without entries', async () => {
    const { userId: nobody } = await makeToken(store, { name: 'front end' });
    const found = await store.report('searchLog', { userId: nobody, keyword: '', offset: 0, limit: 20 });
    expect(found).toEqual({ entries: [], total: 0 });
  });

  test('finds what has just been settled or has failed, while others are being written, and a deleted key', async () => {
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
