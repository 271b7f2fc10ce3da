import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { TimeZone } from '../../server/lib/time-zone.ts';
import { Ledger } from '../../server/quota/ledger.ts';
import { RollUp } from '../../server/quota/maintenance.ts';
import {
  addFigures,
  atMost,
  type FigureGroup,
  type Figures,
  type FiguresQuery,
  type Grouping,
  groupings,
  mostGroups,
  noFigures,
  readLogEnd,
  showFigures,
} from '../../server/store/queries/figures.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { RequestLogTable } from '../../server/store/schema.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { engines, onServer, type TestStore } from './engines.ts';
import { logEntry, logRows, makeToken } from './ledger.ts';
import { eachTestOnOneStore } from './one-store.ts';
import { insertLogEntries, runStatement } from './raw-rows.ts';

const hour = 3_600;
const start = 1_795_000_000 - (1_795_000_000 % 86_400);
const always = { since: 0, until: start + 1_000 * hour };

type Evidence =
  | 'unit_price'
  | 'price_rule'
  | 'cost'
  | 'group_ratio'
  | 'group_name'
  | 'config_revision'
  | 'task_id'
  | 'upstream_id'
  | 'debt';
type Entry = Omit<RequestLogTable, 'id' | 'request_id' | 'reserved' | 'unlimited' | 'wallet' | Evidence>;

const entries = fc.array(
  fc.record({
    user_id: fc.constantFrom(1, 2),
    token_id: fc.constantFrom(1, 2, 3),
    token_name: fc.constant('a key'),
    model_name: fc.constantFrom('alpha3-tts-flash', 'voxa-v2', 'Émile'),
    operation: fc.constantFrom('createSpeech', 'createVideo'),
    channel: fc.constantFrom('eu', ''),
    status: fc.constantFrom(200, 399, 400, 499, 503),
    error_code: fc.constant(null),
    state: fc.constantFrom('completed', 'failed', 'canceled'),
    unit: fc.constantFrom('characters', 'tokens'),
    // Halves have exact sums.
    units: fc.integer({ min: 0, max: 2 ** 20 }).map((half) => half / 2),
    prompt_tokens: fc.nat(1_000),
    completion_tokens: fc.nat(1_000),
    quota: fc.integer({ min: 0, max: 2 ** 40 }),
    duration_ms: fc.oneof(fc.constantFrom(0, 50, 51, 300_000, 300_001), fc.nat(400_000)),
    created_at: fc.integer({ min: start, max: start + 30 * hour }),
  }) satisfies fc.Arbitrary<Entry>,
  { maxLength: 40 },
);

/** Events, in any order. */
const steps = fc.array(
  fc.oneof(
    entries.map((rows) => ({ kind: 'write' as const, rows })),
    fc.integer({ min: 1, max: 30 }).map((limit) => ({ kind: 'roll' as const, limit })),
    fc.integer({ min: 1, max: 30 }).map((limit) => ({ kind: 'sweep' as const, limit })),
  ),
  { minLength: 1, maxLength: 12 },
);

/** Computes the figures from the entries one by one. */
function expected(rows: readonly Entry[], query: FiguresQuery): Map<string, Figures> {
  const groups = new Map<string, Figures>();
  for (const row of rows) {
    if (row.created_at < query.since || row.created_at >= query.until) continue;
    if (query.userId !== undefined && row.user_id !== query.userId) continue;
    if (query.tokenId !== undefined && row.token_id !== query.tokenId) continue;
    if (query.family !== undefined && row.token_id !== query.family) continue;
    if (query.model !== undefined && row.model_name !== query.model) continue;
    if (query.channel !== undefined && row.channel !== query.channel) continue;
    if (query.operation !== undefined && row.operation !== query.operation) continue;
    const values: Record<Grouping, string | number> = {
      hour: row.created_at - (row.created_at % hour),
      day: row.created_at - (row.created_at % 86_400),
      model: row.model_name,
      channel: row.channel,
      operation: row.operation,
      user: row.user_id,
      account: row.user_id,
      key: row.token_id,
      // The keys do not exist.
      member: 0,
    };
    const key = JSON.stringify(query.by.map((one) => values[one]));
    const within = (step: number) => (row.duration_ms <= step ? 1 : 0);
    groups.set(
      key,
      addFigures(groups.get(key) ?? noFigures, {
        requests: 1,
        errors: row.status >= 400 || row.state === 'failed' ? 1 : 0,
        quota: row.quota,
        cost: 0,
        channel_spent: row.quota,
        // The entries are of keys without a limit.
        spent: 0,
        wallet_spent: 0,
        debt: 0,
        wallet_debt: 0,
        units: { [row.unit]: row.units },
        prompt_tokens: row.prompt_tokens,
        completion_tokens: row.completion_tokens,
        duration_ms: row.duration_ms,
        longest_ms: row.duration_ms,
        refunded: 0,
        ms_50: within(50),
        ms_100: within(100),
        ms_200: within(200),
        ms_500: within(500),
        ms_1000: within(1_000),
        ms_2000: within(2_000),
        ms_5000: within(5_000),
        ms_10000: within(10_000),
        ms_20000: within(20_000),
        ms_60000: within(60_000),
        ms_300000: within(300_000),
      }),
    );
  }
  return groups;
}

const asMap = (groups: readonly FigureGroup[]) =>
  new Map(groups.map(({ group, figures }) => [JSON.stringify(group), figures]));

describe.each(engines)('the figures on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  eachTestOnOneStore(engine, (made) => {
    ({ testStore, store } = made);
  });

  const rollUp = (of = store) =>
    new RollUp({ store: of, logger: createLogger('silent'), timers: new ManualTimers() });
  /** On a busy server, other transactions may have to end first. */
  const rollAll = (job = rollUp()) =>
    vi.waitFor(
      async () => {
        await job.run();
        const { rolled_to: to } = await mark();
        // The end is 0 if all entries are deleted.
        expect(to).toBeGreaterThanOrEqual((await readLogEnd(store.read)).id);
      },
      { timeout: 15_000, interval: 20 },
    );
  const mark = () => store.read.selectFrom('log_figures_mark').select('rolled_to').executeTakeFirstOrThrow();
  const show = (query: Partial<FiguresQuery> = {}) =>
    store.report('showFigures', { by: [], ...always, ...query });
  const requests = async () => (await show()).groups[0]?.figures.requests ?? 0;

  let written = 0;
  const write = async (rows: readonly Entry[]) => {
    if (rows.length === 0) return;
    const named = rows.map((row) => {
      written += 1;
      return { ...row, request_id: `r${written}` };
    });
    await insertLogEntries(testStore, named);
  };

  test('equal the sums of the entries, however they are rolled up and deleted', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.uniqueArray(fc.constantFrom(...groupings), { maxLength: 2 }),
        fc.record(
          {
            userId: fc.constantFrom(1, 2, 3),
            tokenId: fc.constantFrom(1, 4),
            family: fc.constantFrom(1, 4),
            model: fc.constantFrom('voxa-v2', 'émile'),
            channel: fc.constantFrom('eu', ''),
            operation: fc.constant('createVideo'),
          },
          { requiredKeys: [] },
        ),
        fc.tuple(fc.nat(31), fc.nat(31)),
        async (list, by, filters, [from, to]) => {
          const all: Entry[] = [];
          for (const table of ['request_log', 'log_figures'])
            await runStatement(testStore, `delete from ${table}`);
          for (const step of list) {
            if (step.kind === 'write') {
              await write(step.rows);
              all.push(...step.rows);
            } else if (step.kind === 'roll') {
              const end = await readLogEnd(store.read);
              await store.run('rollUpLog', { end, limit: step.limit });
            } else await store.run('sweepLog', { closedBefore: 1e15, limit: step.limit });
          }
          const query = { ...filters, by, since: start + from * hour, until: start + to * hour };
          const { groups, more } = await show(query);
          expect(asMap(groups)).toEqual(expected(all, query));
          expect(more).toBe(false);
        },
      ),
      { numRuns: engine === 'sqlite' ? 40 : 15 },
    );
  }, 60_000);

  test('are rolled up by several gateways at once, each entry once', async () => {
    const other = engine === 'postgres' ? await testStore.open() : store;
    const rows = fc.sample(entries, { numRuns: 8, seed: 7 }).flat();
    await write(rows);
    const end = await readLogEnd(store.read);
    const limit = 7;
    await vi.waitFor(async () => {
      await Promise.all([store, other, store, other].map((one) => one.run('rollUpLog', { end, limit })));
      expect((await mark()).rolled_to).toBe(end.id);
    }, 15_000);
    expect(asMap((await show({ by: ['model'] })).groups)).toEqual(
      expected(rows, { by: ['model'], ...always }),
    );
  });

  test('are correct at every moment while calls end, entries are rolled up and old ones deleted', async () => {
    const token = await makeToken(store, { unlimitedQuota: true });
    const spend = spender(store, token);
    for (let index = 0; index < 20; index += 1) await spend(`old ${index}`);
    let told = 20;
    const job = rollUp();
    for (let index = 0; index < 20; index += 1) {
      const [now] = await Promise.all([
        requests(),
        spend(`new ${index}`),
        job.run(),
        store.run('sweepLog', { closedBefore: 1e15, limit: 2 }),
      ]);
      expect([told, told + 1]).toContain(now);
      told += 1;
      expect(await requests()).toBe(told);
    }
    await rollAll(job);
    expect(await requests()).toBe(40);
  });

  test('count each entry once when a roll-up commits between the two reads of a report', async () => {
    await write(Array.from({ length: 5 }, () => blank));
    let rollsUp = true;
    const read = store.read.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (rollsUp) {
          rollsUp = false;
          await rollAll();
        }
        return result;
      },
    });
    const { groups } = await showFigures(read, { by: [], ...always });
    expect([rollsUp, groups[0]?.figures.requests]).toEqual([false, 5]);
  });

  test('are rolled up periodically, in batches with pauses in which the job can be stopped', async () => {
    const rows = Array.from({ length: 1_200 }, () => blank);
    await write(rows);
    const timers = new ManualTimers();
    const job = new RollUp({ store, logger: createLogger('silent'), timers });
    const marked = (to: number) =>
      vi.waitFor(
        async () => {
          timers.advance(10_000);
          expect((await mark()).rolled_to).toBeGreaterThanOrEqual(to);
        },
        { timeout: 15_000, interval: 20 },
      );
    void job.start();
    expect((await mark()).rolled_to).toBe(0);
    await marked(1_200);
    await write([blank]);
    await marked(1_201);
    await job.stop();
    expect(await requests()).toBe(1_201);
    const idle = new RollUp({ store, logger: createLogger('silent'), timers });
    void idle.start();
    await idle.stop();
  });

  test('omit entries instead of reading too many of them, and name the hour from which they are missing', async () => {
    const at = (hours: number) => ({ ...blank, created_at: start + hours * hour + 5 });
    await write([at(0), at(1), at(1)]);
    await rollAll();
    await write([at(1), at(3), at(2), at(4)]);
    const report = (unrolled: number, until = always.until) =>
      showFigures(store.read, { by: [], since: 0, until }, unrolled);
    const seen = async (...args: Parameters<typeof report>) => {
      const { groups, completeUntil } = await report(...args);
      return [groups[0]?.figures.requests, completeUntil];
    };
    expect(await seen(4)).toEqual([7, null]);
    expect(await seen(3)).toEqual([3, start + hour]);
    // The range ends before the first missing entry.
    expect(await seen(3, start + hour)).toEqual([1, null]);
    await rollAll();
    expect(await seen(0)).toEqual([7, null]);
  });

  test('contain a whole batch or nothing of it', async () => {
    const rows = fc.sample(entries, { numRuns: 4, seed: 3 }).flat();
    await write(rows);
    const [break_, mend] =
      engine === 'sqlite'
        ? [
            `create trigger no_mark before update on log_figures_mark begin select raise(abort, 'no'); end`,
            'drop trigger no_mark',
          ]
        : [
            'alter table log_figures_mark add constraint no_mark check (rolled_to = 0)',
            'alter table log_figures_mark drop constraint no_mark',
          ];
    await runStatement(testStore, break_);
    const end = { ...(await readLogEnd(store.read)), below: null };
    await expect(store.run('rollUpLog', { end, limit: 9 })).rejects.toThrow();
    expect(await store.read.selectFrom('log_figures').selectAll().execute()).toEqual([]);
    await runStatement(testStore, mend);
    await rollAll();
    expect(asMap((await show({ by: ['user'] })).groups)).toEqual(expected(rows, { by: ['user'], ...always }));
  });

  test('contain refunds in the hour of the refund, separate from the charges', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    const ledger = new Ledger(store, 'here', () => (start + 10) * 1_000);
    await ledger.reserve({ requestId: 'r', token, model: 'm', unit: 'tokens', amount: 9 });
    await ledger.settle({ requestId: 'r', charged: 9, log: logEntry });
    await rollAll();
    const now = (start + 2 * hour + 5) * 1_000;
    const change = { userId: 1, tokenId: 1, action: 'refundCall', now };
    await store.run('refundCall', { id: 'r', amount: 4, reason: 'r', idempotencyKey: null, change });
    const { groups } = await show({ by: ['hour', 'model'] });
    const shown = groups.map(({ group, figures: { requests, quota, refunded, units } }) => [
      ...group,
      { requests, quota, refunded, units },
    ]);
    expect(shown).toEqual([
      [start, 'm', { requests: 1, quota: 9, refunded: 0, units: { tokens: 9 } }],
      [start + 2 * hour, 'm', { requests: 0, quota: 0, refunded: 4, units: { tokens: 0 } }],
    ]);
    const within = { since: start + 2 * hour, until: start + 3 * hour };
    expect((await show({ ...within, userId: token.userId })).groups).toMatchObject([
      { figures: { refunded: 4 } },
    ]);
    expect((await show({ ...within, userId: token.userId + 1 })).groups).toEqual([]);
  });

  test('count an hour in the day of a time zone in which it begins', async () => {
    const [winter, summer, winterAgain] = ['2026-03-28', '2026-03-29', '2026-10-25'].map(
      (date) => Date.parse(date) / 1_000,
    ) as [number, number, number];
    const [entry] =
      fc.sample(
        entries.filter((rows) => rows.length > 0),
        1,
      )[0] ?? [];
    if (entry === undefined) throw new Error('there is no entry');
    const times = [
      winter + 22.5 * hour,
      winter + 23 * hour,
      summer + 21.9 * hour,
      summer + 22 * hour,
      winterAgain - 2.5 * hour,
      winterAgain + 22.9 * hour,
      winterAgain + 23 * hour,
    ];
    await write(times.map((created_at) => ({ ...entry, created_at })));
    const until = winterAgain + 48 * hour;
    const offsets = new TimeZone('Europe/Berlin').offsetsIn(winter, until);
    const { groups } = await show({ by: ['day'], since: winter, until, offsets });
    const days = new Map<unknown, number>();
    for (const { group, figures } of groups) days.set(group[0], (days.get(group[0]) ?? 0) + figures.requests);
    const day = 24 * hour;
    expect([...days].sort(([left], [right]) => Number(left) - Number(right))).toEqual([
      [winter, 1],
      [summer, 2],
      [summer + day, 1],
      [winterAgain - day, 1],
      [winterAgain, 1],
      [winterAgain + day, 1],
    ]);
  });

  test('report when there are too many groups', async () => {
    const row = { ...blank, user_id: 0 };
    const rows = Array.from({ length: mostGroups + 1 }, (_, index) => ({ ...row, user_id: index }));
    await insertLogEntries(
      testStore,
      rows.map((one, index) => ({ ...one, request_id: `r${index}` })),
    );
    expect(await show({ by: ['user'] })).toEqual({ groups: [], more: true, completeUntil: null });
    expect((await show({ by: ['user'], userId: 7 })).groups).toHaveLength(1);
    expect(await requests()).toBe(mostGroups + 1);
  });

  test('include deleted entries that were not rolled up yet', async () => {
    const token = await makeToken(store, { unlimitedQuota: true });
    const spend = spender(store, token);
    for (let index = 0; index < 5; index += 1) await spend(`r${index}`);
    expect(await store.run('sweepLog', { closedBefore: 1e15, limit: 100 })).toBe(5);
    expect(await logRows(store)).toEqual([]);
    expect(await requests()).toBe(5);
    await rollAll();
    expect(await requests()).toBe(5);
  });

  if (engine === 'sqlite') return;

  test('wait for an entry with a lower number that is not committed yet', async () => {
    const insert = (id: number) => `insert into request_log
      (id, request_id, user_id, token_id, token_name, model_name, operation, channel, status, unit, units, prompt_tokens,
       completion_tokens, quota, debt, reserved, unlimited, duration_ms, created_at, state, unit_price, group_ratio,
       group_name, config_revision, day)
      values (${id}, 'r${id}', ${id}, 1, 'k', 'm', 'o', 'c', 200, 'tokens', 1, 1, 1, 1, 0, 1, 1, 1, 1795000000, 'completed', 1, 1,
       'default', 'revision', 20775)`;
    const job = rollUp();
    await onServer(async (slow) => {
      await slow.query(`set search_path = ${testStore.options.schema}`);
      await slow.query('begin');
      await slow.query(insert(1));
      await runStatement(testStore, insert(2));
      expect(await job.run()).toBe(0);
      expect(await requests()).toBe(1);
      await slow.query('commit');
      expect(await requests()).toBe(2);
    });
    await rollAll(job);
    expect(await requests()).toBe(2);
  });

  test('start again on a server whose counter is lower', async () => {
    await write([blank]);
    const end = { ...(await readLogEnd(store.read)), below: '9223372036854775807' };
    expect(await store.run('rollUpLog', { end, limit: 9 })).toBe('lost');
  });
});

const blank: Entry = {
  user_id: 1,
  token_id: 1,
  token_name: 'k',
  model_name: 'm',
  operation: 'o',
  channel: 'c',
  status: 200,
  error_code: null,
  state: 'completed',
  unit: 'tokens',
  units: 1,
  prompt_tokens: 1,
  completion_tokens: 1,
  quota: 1,
  duration_ms: 1,
  created_at: start,
};

function spender(store: Store, token: TokenRecord) {
  const ledger = new Ledger(store, 'here', () => start * 1_000);
  return async (requestId: string) => {
    await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount: 3 });
    await ledger.settle({ requestId, charged: 2, log: logEntry });
  };
}

test('a percentile is the next step, or the longest duration', () => {
  const took = (ms: number): Figures => ({
    ...noFigures,
    requests: 1,
    longest_ms: ms,
    ms_100: ms <= 100 ? 1 : 0,
    ms_200: ms <= 200 ? 1 : 0,
    ms_300000: ms <= 300_000 ? 1 : 0,
  });
  const figures = [90, 90, 180, 400_000].map(took).reduce(addFigures);
  expect([0.5, 0.75, 0.95].map((share) => atMost(figures, share))).toEqual([100, 200, 400_000]);
  expect(atMost(took(120), 0.5)).toBe(120);
  expect(atMost(noFigures, 0.5)).toBe(0);
});
