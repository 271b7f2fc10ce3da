import { type SqlBool, sql } from 'kysely';
import type { OffsetChange } from '../../lib/time-zone.ts';
import type { LogEnd } from '../commands/figures.ts';
import { dayOf, onDays } from '../log-days.ts';
import {
  entryColumns,
  type FigureSum,
  figureColumns,
  figureSums,
  type LatencyStep,
  latencySteps,
  refundColumns,
  summed,
} from '../log-figures.ts';
import { oneOf } from '../rows.ts';
import type { Db } from '../schema.ts';
import { allOf, equalities, isPostgres } from '../statement.ts';
import { seenBy } from './lineage.ts';
import { keysOfMember } from './members.ts';
import { accountsOf } from './users.ts';

export const groupings = [
  'hour',
  'day',
  'model',
  'channel',
  'operation',
  'user',
  'account',
  'key',
  'member',
] as const;

export type Grouping = (typeof groupings)[number];

export interface FiguresQuery {
  by: readonly Grouping[];
  /** Unix seconds, each the start of an hour. `until` is excluded. */
  since: number;
  until: number;
  userId?: number | undefined;
  /** Includes the sub-accounts of the user. */
  withAccounts?: boolean | undefined;
  tokenId?: number | undefined;
  /** Only keys of this member, including deleted ones. */
  memberId?: number | undefined;
  /** Only this key and its descendants. */
  family?: number | undefined;
  model?: string | undefined;
  channel?: string | undefined;
  operation?: string | undefined;
  /** Offsets from UTC by which hours belong to days, in seconds, each from a time on. Default: UTC. */
  offsets?: readonly OffsetChange[] | undefined;
}

export type Figures = Record<Exclude<FigureSum, 'units'>, number> & {
  /** By unit. */
  units: Readonly<Record<string, number>>;
  longest_ms: number;
  /** Quota that refunds of these hours returned. */
  refunded: number;
};

export interface FigureGroup {
  /** Values in the order of `by`. */
  group: readonly (string | number)[];
  figures: Figures;
}

/** Largest number of groups of a result. A group counts once for each of its units. */
export const mostGroups = 10_000;

const groupColumns: Readonly<Record<Grouping, string>> = {
  hour: 'hour',
  day: 'hour - hour % 86400',
  model: 'model_name',
  channel: 'channel',
  operation: 'operation',
  user: 'user_id',
  account: 'user_id',
  key: 'token_id',
  // 0: the user itself.
  member: 'coalesce((select t.member_id from tokens t where t.id = token_id), 0)',
};

/** The local date of an hour at 0:00, as if it were UTC. An hour belongs to the day in which it begins. */
function dayIn(offsets: readonly OffsetChange[]): string {
  const [first, ...changes] = offsets;
  const offset = changes.reduce(
    (before, { from, offset: after }) => `case when hour < ${from} then ${before} else ${after} end`,
    String(first?.offset ?? 0),
  );
  const local = `(hour + ${offset})`;
  return `${local} - ${local} % 86400`;
}

type Row = Record<FigureSum | 'longest_ms' | 'refunded', number> &
  Record<string, string | number> & { unit: string };

/** Largest number of entries that a report adds up itself, as a range of ids. More would take seconds. */
const mostUnrolled = 200_000;
/** Number of entries whose earliest time is that of all later entries. Gateways write them nearly in the order of time. */
const orderedWithin = 1_000;

export interface FiguresReport {
  groups: FigureGroup[];
  /** There are more than `mostGroups` groups, and none is returned. */
  more: boolean;
  /** Start of the hour from which entries are missing, in Unix seconds. Null: none is missing. */
  completeUntil: number | null;
}

/**
 * Sums up the log, including swept entries, and refunds. If more than `unrolled` entries are not in the sums yet, the report
 * omits these entries instead of reading them.
 */
export async function showFigures(
  db: Db,
  query: FiguresQuery,
  unrolled = mostUnrolled,
): Promise<FiguresReport> {
  const { by, since, until, userId, tokenId, memberId, family, model, channel, operation, offsets } = query;
  const columns = { ...groupColumns, ...(offsets !== undefined && { day: dayIn(offsets) }) };
  const users =
    userId !== undefined && query.withAccounts === true ? await accountsOf(db, userId) : undefined;
  const conditions = equalities({
    user_id: users === undefined ? userId : undefined,
    token_id: tokenId,
    model_name: model,
    channel,
    operation,
  });
  if (users !== undefined) conditions.push(oneOf(db, sql.ref('user_id'), users));
  if (memberId !== undefined) conditions.push(sql<SqlBool>`token_id in ${keysOfMember(memberId)}`);
  if (family !== undefined) conditions.push(sql<SqlBool>`token_id in ${seenBy(family)}`);
  const filter = allOf(conditions);
  const { known, missingFrom } = await readProgress(db, unrolled);
  const completeUntil = missingFrom !== null && missingFrom < until ? missingFrom : null;
  const days = onDays(db, dayOf(since * 1000), dayOf(until * 1000 - 1));
  // `known` is for the planner, which otherwise assumes that a third of the log is not in the figures.
  const isUnrolled = sql<SqlBool>`id > ${known} and id > (select rolled_to from log_figures_mark)`;
  const names = by.map((_, index) => `group_${index}`);
  const keys = sql.raw(['unit', ...by.map((one, index) => `${columns[one]} as ${names[index]}`)].join(', '));
  const groups = sql.raw(['unit', ...names].join(', '));
  const order = sql.raw([...names, 'unit'].join(', '));
  const { rows } = await sql<Row>`
    select ${groups}, ${summed}, sum(refunded) as refunded from (
      select ${keys}, ${sql.raw(figureSums.join(', '))}, longest_ms, refunded from (
        select ${figureColumns}, 0 as refunded from log_figures where hour >= ${since} and hour < ${until} and ${filter}
        union all
        select ${entryColumns}, 0 as refunded from request_log
        where ${missingFrom === null ? isUnrolled : sql`false`}
          and created_at >= ${since} and created_at < ${until} and ${days} and ${filter}
        union all
        select ${refundColumns}, amount as refunded from refunds
        where created_at >= ${since * 1000} and created_at < ${until * 1000} and ${filter}
      ) as f
    ) as g
    group by ${groups} order by ${order} limit ${mostGroups + 1}`.execute(db);
  if (rows.length > mostGroups) return { groups: [], more: true, completeUntil };
  const found = new Map<string, FigureGroup>();
  for (const row of rows) {
    const group = names.map((name) => row[name] ?? '');
    const key = JSON.stringify(group);
    const before = found.get(key)?.figures ?? noFigures;
    found.set(key, { group, figures: addFigures(before, figuresOf(row)) });
  }
  return { groups: [...found.values()], more: false, completeUntil };
}

function figuresOf(row: Row): Figures {
  const sums = Object.fromEntries(figureSums.map((name) => [name, row[name]])) as Record<FigureSum, number>;
  return { ...sums, units: { [row.unit]: sums.units }, longest_ms: row.longest_ms, refunded: row.refunded };
}

export function addFigures(left: Figures, right: Figures): Figures {
  const sum = { ...left };
  for (const name of figureSums) if (name !== 'units') sum[name] = left[name] + right[name];
  const units = { ...left.units };
  for (const [unit, count] of Object.entries(right.units)) units[unit] = (units[unit] ?? 0) + count;
  const longest_ms = Math.max(left.longest_ms, right.longest_ms);
  return { ...sum, units, longest_ms, refunded: left.refunded + right.refunded };
}

export const noFigures: Figures = {
  ...(Object.fromEntries(figureSums.map((name) => [name, 0])) as Record<FigureSum, number>),
  units: {},
  longest_ms: 0,
  refunded: 0,
};

/** Quantile of the latency in milliseconds, rounded up to the next of `latencySteps`, and at most the longest latency. */
export function atMost(figures: Figures, share: number): number {
  const wanted = figures.requests * share;
  const step = latencySteps.find((one) => figures[`ms_${one}` satisfies LatencyStep] >= wanted);
  return Math.min(step ?? figures.longest_ms, figures.longest_ms);
}

/** Reads the last entry in the sums and, if too many follow it, the start of the hour of the first that is missing. */
async function readProgress(
  db: Db,
  unrolled: number,
): Promise<{ known: number; missingFrom: number | null }> {
  const { rows } = await sql<{ known: number; last: number }>`
    select rolled_to as known, (select coalesce(max(id), 0) from request_log) as last from log_figures_mark`.execute(
    db,
  );
  const { known = 0, last = 0 } = rows[0] ?? {};
  if (last - known <= unrolled) return { known, missingFrom: null };
  const { rows: first } = await sql<{ at: number | null }>`
    select min(created_at) as at from (
      select created_at from request_log where id > ${known} order by id limit ${orderedWithin}) as e`.execute(
    db,
  );
  const at = first[0]?.at ?? null;
  return { known, missingFrom: at === null ? null : at - (at % 3_600) };
}

/** Reads the current end of the log. */
export async function readLogEnd(db: Db): Promise<LogEnd> {
  // An entry below this id belongs to a transaction that has its id already, since it changed the ledger first.
  const below = isPostgres(db) ? sql`pg_snapshot_xmax(pg_current_snapshot())::text` : sql`null`;
  const { rows } = await sql<LogEnd>`
    select coalesce(max(id), 0) as id, ${below} as below from request_log`.execute(db);
  const [end] = rows;
  if (end === undefined) throw new Error('the query returned no row');
  return { ...end };
}
