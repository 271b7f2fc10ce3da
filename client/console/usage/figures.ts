import type { AmountDisplay, Figures, FiguresQuery, Unigate, Usage, UsageQuery } from '../../index.ts';
import { formatAmount } from '../../index.ts';
import { rights } from '../session/session.ts';

export type FigureItem = Figures['items'][number] & Usage['items'][number];
type OwnDimension = NonNullable<UsageQuery['by']>[number];
type AdminDimension = NonNullable<FiguresQuery['by']>[number];
export type Dimension = OwnDimension | AdminDimension;

/** Figures of the signed-in key, or of all users. */
export interface Report {
  /** Start of the hour from which calls are missing, in Unix seconds. Null: none is missing. */
  complete_until: number | null;
  items: readonly FigureItem[];
  sum: Figures['sum'];
}

/** Dimensions by which the figures of the signed-in key can be grouped. */
export const ownGroups = ['model', 'key', 'operation'] as const satisfies OwnDimension[];
/** Further dimensions of a key that sees all keys of its user: by member, and by sub-account. */
export const userGroups = ['member'] as const satisfies OwnDimension[];
export const accountGroups = ['account'] as const satisfies OwnDimension[];
/** Dimensions by which the figures of all users can be grouped. */
export const adminGroups = [
  'model',
  'user',
  'key',
  'channel',
  'operation',
] as const satisfies AdminDimension[];
export type Group = (
  | typeof ownGroups
  | typeof userGroups
  | typeof accountGroups
  | typeof adminGroups
)[number];

export type Bucket = 'hour' | 'day';

const bucketSeconds: Readonly<Record<Bucket, number>> = { hour: 3_600, day: 86_400 };

/** A range until now, in buckets of an hour or a day (UTC). */
export interface Range {
  label: string;
  bucket: Bucket;
  /** Number of buckets, of which the last one is incomplete. */
  count: number;
}

export const ranges: readonly Range[] = [
  { label: 'Last 24 hours', bucket: 'hour', count: 24 },
  { label: 'Last 3 days', bucket: 'hour', count: 72 },
  { label: 'Last 7 days', bucket: 'day', count: 7 },
  { label: 'Last 30 days', bucket: 'day', count: 30 },
  { label: 'Last 90 days', bucket: 'day', count: 90 },
];

/** Returns the starts of the buckets of a range. Unix times in seconds. */
export function timesOf({ bucket, count }: Range, nowMs: number): number[] {
  const size = bucketSeconds[bucket];
  const last = Math.floor(nowMs / 1_000 / size) * size;
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * size);
}

/** Something that the chart can show. */
export interface Metric {
  name: string;
  /** Unit of the axis. */
  unit: string;
  valueOf: (item: FigureItem) => number;
  /** Formats a value. Undefined: as a number with its separators. */
  format?: (value: number) => string;
}

function quotaMetric(display: AmountDisplay | null): Metric {
  const name = 'Quota';
  if (display === null) return { name, unit: 'quota', valueOf: ({ quota }) => quota };
  const { quota_per_unit: quotaPerUnit, currency } = display;
  return {
    name,
    unit: currency,
    valueOf: ({ quota }) => quota / quotaPerUnit,
    format: (value) => formatAmount(value, { quota_per_unit: 1, currency }),
  };
}

/** Returns the metrics of a result: calls, quota, failures, and each unit that occurs in it. */
export function metricsOf(figures: Report, display: AmountDisplay | null): Metric[] {
  return [
    quotaMetric(display),
    { name: 'Calls', unit: 'calls', valueOf: ({ requests }) => requests },
    { name: 'Failures', unit: 'calls', valueOf: ({ errors }) => errors },
    ...Object.keys(figures.sum.units).map((unit) => ({
      name: `${unit[0]?.toUpperCase() ?? ''}${unit.slice(1)}`,
      unit,
      valueOf: ({ units }: FigureItem) => units[unit] ?? 0,
    })),
  ];
}

/** Names of keys, users or accounts by id, for groups whose figures have only ids. */
export type Names = ReadonlyMap<number, string>;

const maxNames = 1_000;

/** Loads the names of the keys, users or accounts of a grouping. */
export async function namesOf(
  client: Unigate,
  group: Group,
  showsAll: boolean,
  signal: AbortSignal,
): Promise<Names> {
  if (group === 'account') {
    const { user } = await client.me.retrieve({ signal });
    const accounts = await client.me.accounts.list({ signal });
    return new Map([user, ...accounts].map(({ id, name }) => [id, name]));
  }
  if (group !== 'key' && group !== 'user') return new Map();
  // A billing member does not list keys.
  if (!rights.peek().has('calls')) return new Map();
  const query = { page_size: maxNames };
  const list =
    group === 'user'
      ? client.admin.users.list(query, { signal })
      : showsAll
        ? client.admin.tokens.list(query, { signal })
        : client.tokens.list(query, { signal });
  const { items }: { items: readonly { id: number; name: string }[] } = await list;
  return new Map(items.map(({ id, name }) => [id, name]));
}

/** Returns the name of the group of an item. */
export function nameOf(item: FigureItem, group: Group, names: Names): string {
  if (group === 'member') {
    const { member_id: id, member_name: name } = item;
    return typeof id === 'number' ? `${name ?? 'member'} (${id})` : '(no member)';
  }
  if (group === 'key' || group === 'user' || group === 'account') {
    const id = { key: item.token_id, user: item.user_id, account: item.account_id }[group] ?? 0;
    const name = names.get(id);
    return name === undefined ? `${group} ${id}` : `${name} (${id})`;
  }
  return item[group] || '(none)';
}

/** A part of the bars of a chart. */
export interface Stack {
  name: string;
  /** One value per bucket. */
  values: number[];
  total: number;
}

/** Number of parts, each with a color of its own. Smaller groups are combined. */
const maxStacks = 5;

/** Groups figures by a dimension, the largest group first. */
export function stacksOf(
  items: readonly FigureItem[],
  times: readonly number[],
  {
    bucket,
    metric,
    nameOfItem,
  }: { bucket: Bucket; metric: Metric; nameOfItem: (item: FigureItem) => string },
): Stack[] {
  const indexes = new Map(times.map((time, index) => [time, index]));
  const stacks = [...Map.groupBy(items, nameOfItem)].map(([name, ofGroup]) => {
    const values = times.map(() => 0);
    for (const item of ofGroup) {
      const index = indexes.get(item[bucket] ?? -1);
      if (index !== undefined) values[index] = (values[index] ?? 0) + metric.valueOf(item);
    }
    return { name, values, total: sum(values) };
  });
  const sorted = stacks.filter(({ total }) => total > 0).sort((left, right) => right.total - left.total);
  if (sorted.length <= maxStacks) return sorted;
  const rest = sorted.slice(maxStacks - 1);
  const values = times.map((_, index) => sum(rest.map((stack) => stack.values[index] ?? 0)));
  return [...sorted.slice(0, maxStacks - 1), { name: `${rest.length} others`, values, total: sum(values) }];
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
