import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../store/engines.ts';
import {
  callCount,
  eventDays,
  granted,
  type Month,
  month,
  monthStart,
  organizations,
  runMonth,
  trialBudget,
} from './month.ts';
import { Operator } from './operator.ts';
import { type ChannelName, chargeFor, models, salePrices } from './rates.ts';
import type { BillLine } from './vendors.ts';

/** A log entry as operators export it. */
interface Entry {
  request_id: string;
  user_id: number;
  model_name: string;
  channel: ChannelName;
  upstream_id: string | null;
  state: string;
  quota: number;
  cost: number;
  debt: number;
  refunded: number;
  created_at: number;
}

interface Statement {
  final: boolean;
  opening: { balance: number; debt: number };
  corrections: { balance: number; debt: number };
  grants: { quota: number };
  charges: { requests: number; quota: number; spent: number; items: { model: string; quota: number }[] };
  refunds: { quota: number; credited: number };
  closing: { balance: number; debt: number };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const daySeconds = 86_400;

describe.skipIf(!engines.includes('postgres'))('a month of three organizations', () => {
  let past: Month;
  let entries: readonly Entry[];
  beforeAll(async () => {
    past = await runMonth(20_270_401);
    entries = (await past.operator.text('GET', '/api/admin/logs/export?format=jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry);
  }, 900_000);
  afterAll(() => past?.end());

  /** Lines of all bills by the id that the vendor reported. */
  const billLines = () =>
    new Map<string | null, BillLine>(
      Object.values(past.vendors).flatMap(({ bill }) => bill.map((line) => [line.id, line] as const)),
    );
  const completed = () => entries.filter(({ state }) => state === 'completed');
  const entriesOf = (organization: number) =>
    entries.filter(({ user_id: userId }) => userId === past.accounts[organization]?.userId);

  test('every call has one log entry, and every completed one a line of a bill', () => {
    expect(past.sales.filter(({ status }) => status !== 200)).toEqual([]);
    expect(past.sales).toHaveLength(callCount);
    const answered = [...past.sales, ...past.trials].filter(({ status }) => status === 200);
    expect(past.interrupted).toBeGreaterThan(0);
    const logged = new Set(entries.map(({ request_id: id }) => id));
    expect(logged.size).toBe(entries.length);
    expect(answered.filter(({ requestId }) => !logged.has(requestId))).toEqual([]);
    expect(completed().map(({ upstream_id: id }) => id)).toHaveLength(billLines().size);
    expect(new Set(completed().map(({ upstream_id: id }) => id))).toEqual(new Set(billLines().keys()));
  });

  test('every call is charged by the price of its day, and costs what its vendor billed', () => {
    const lines = billLines();
    const ratios = new Map(past.accounts.map(({ userId }, index) => [userId, organizations[index]?.ratio]));
    const changedAt = monthStart / 1_000 + eventDays.priceChange * daySeconds;
    const wrong = completed().flatMap<object>((entry) => {
      const { request_id: id, upstream_id: upstreamId, model_name: model, quota, cost, debt } = entry;
      const line = lines.get(upstreamId);
      if (line === undefined) return [{ id, upstreamId }];
      const prices = salePrices[entry.created_at < changedAt ? 0 : 1];
      const charge = chargeFor(prices, model, line.metered, ratios.get(entry.user_id));
      const isRight = quota === charge && cost === line.amount && debt === 0;
      return isRight ? [] : [{ id, model, quota, charge, cost, billed: line.amount, debt }];
    });
    expect(wrong).toEqual([]);
  });

  test('every response with a cost states what was charged', () => {
    const charges = new Map(entries.map(({ request_id: id, quota }) => [id, quota]));
    const stated = past.sales.filter(({ cost }) => cost !== undefined);
    expect(stated.length).toBeGreaterThan(callCount / 2);
    expect(stated.filter(({ requestId, cost }) => charges.get(requestId) !== cost)).toEqual([]);
  });

  test('the cost of each channel is the bill of its vendor, and the margin is what remains', async () => {
    const period = `since=${monthStart / 1_000}&until=${monthStart / 1_000 + 30 * daySeconds}`;
    const { items } = await past.operator.data<{ items: Record<string, number | string>[] }>(
      'GET',
      `/api/admin/figures?by=channel&${period}`,
    );
    const figures = items.filter(({ channel }) => channel !== '');
    expect(Object.fromEntries(figures.map(({ channel, cost }) => [channel, cost]))).toEqual(
      Object.fromEntries(
        Object.entries(past.vendors).map(([name, { bill }]) => [name, sum(bill.map(({ amount }) => amount))]),
      ),
    );
    const refunded = sum(past.refunds.map(({ amount }) => amount));
    const revenue = sum(entries.map(({ quota }) => quota)) - refunded;
    const billed = sum(Object.values(past.vendors).flatMap(({ bill }) => bill.map(({ amount }) => amount)));
    expect(sum(figures.map(({ margin }) => Number(margin)))).toBe(revenue - billed);
  });

  test.each(organizations.map(({ name }, index) => ({ name, index })))(
    'the statement of $name adds up to its wallet',
    async ({ index }) => {
      const userId = past.accounts[index]?.userId;
      const read = <Data>(path: string) =>
        past.operator.data<Data>('GET', `/api/admin/users/${userId}/${path}`);
      const statement = await read<Statement>(`statements/${month}`);
      const own = entriesOf(index);
      const charged = sum(own.map(({ quota }) => quota));
      const refunded = sum(
        past.refunds.filter(({ organization }) => organization === index).map(({ amount }) => amount),
      );
      expect(statement).toMatchObject({
        opening: { balance: 0, debt: 0 },
        corrections: { balance: 0, debt: 0 },
        grants: { quota: granted },
        charges: { requests: own.length, quota: charged, spent: charged },
        refunds: { quota: refunded, credited: refunded },
        closing: { balance: granted - charged + refunded, debt: 0 },
      });
      expect(sum(statement.charges.items.map(({ quota }) => quota))).toBe(charged);
      expect(await read('wallet')).toMatchObject({
        balance: granted - charged + refunded,
        reserved: 0,
        used: charged - refunded,
        debt: 0,
      });
    },
  );

  test('a hard budget refuses the calls of a day that would exceed it, and charges none of them', () => {
    const statuses = new Set(past.trials.map(({ status }) => status));
    expect(statuses).toEqual(new Set([200, 403]));
    const charges = new Map(entries.map(({ request_id: id, quota }) => [id, quota]));
    const days = Map.groupBy(past.trials, ({ organization, day }) => `${organization} ${day}`);
    for (const [name, trials] of days) {
      const spent = sum(trials.map(({ requestId }) => charges.get(requestId) ?? 0));
      const largest = Math.max(...trials.map(({ requestId }) => charges.get(requestId) ?? 0));
      expect([name, spent <= trialBudget, spent + largest > trialBudget]).toEqual([name, true, true]);
    }
    const refused = past.trials.filter(({ status }) => status === 403);
    expect(refused.filter(({ requestId }) => charges.has(requestId))).toEqual([]);
  });

  test('each organization sees amounts in its currency', async () => {
    for (const [index, { currency }] of organizations.entries()) {
      const own = new Operator(past.accounts[index]?.keys[0] ?? '', () => past.deployment.urls[0] ?? '');
      expect(await own.data('GET', '/api/me')).toMatchObject({ display: { currency } });
    }
  });

  test('the ledger audit finds no problem', async () => {
    expect(await past.operator.data('GET', '/api/admin/audit')).toMatchObject({ open: 0, problems: [] });
  });

  test('the backup vendor served all calls of the day on which the first one was down', () => {
    const outage = monthStart / 1_000 + eventDays.outage * daySeconds;
    const speech = completed().filter(
      ({ model_name: model, created_at: at }) =>
        model === models.speech && at >= outage && at < outage + daySeconds,
    );
    expect(speech.length).toBeGreaterThan(100);
    expect(new Set(speech.map(({ channel }) => channel))).toEqual(new Set(['speech-backup']));
  });
});
