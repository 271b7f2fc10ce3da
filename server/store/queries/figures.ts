import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
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
import type { Database } from '../schema.ts';
import { isPostgres } from '../statement.ts';

export const groupings = ['hour', 'day', 'model', 'channel', 'operation', 'user'] as const;

export type Grouping = (typeof groupings)[number];

export interface FiguresQuery {
  by: readonly Grouping[];
  /** Unix seconds at which an hour begins; the second is not in it any more. */
  since: number;
  until: number;
  userId?: number | undefined;
  model?: string | undefined;
  channel?: string | undefined;
  operation?: string | undefined;
}

export type Figures = Record<Exclude<FigureSum, 'units'>, number> & {
  /** By what the models are metered in. */
  units: Readonly<Record<string, number>>;
  longest_ms: number;
  /** What refunds gave back that were made within the hours. */
  refunded: number;
};

export interface FigureGroup {
  /** The values of what they are grouped by, in that order. */
  group: readonly (string | number)[];
  figures: Figures;
}

/** Groups, counted once for each unit in them, that are told at the most. */
export const mostGroups = 10_000;

const groupColumns: Readonly<Record<Grouping, string>> = {
  hour: 'hour',
  day: 'hour - hour % 86400',
  model: 'model_name',
  channel: 'channel',
  operation: 'operation',
  user: 'user_id',
};

type Row = Record<FigureSum | 'longest_ms' | 'refunded', number> &
  Record<string, string | number> & { unit: string };

/**
 * What the log comes to, with the entries that were swept: the figures that are kept, and the entries that are not in
 * them yet, in one look at both; and the refunds. Groups come in the order of their values. `more`: there are too many, and none is told.
 */
export async function showFigures(
  db: Kysely<Database>,
  query: FiguresQuery,
): Promise<{ groups: FigureGroup[]; more: boolean }> {
  const { by, since, until, userId, model, channel, operation } = query;
  const filters: RawBuilder<SqlBool>[] = [sql`true`];
  if (userId !== undefined) filters.push(sql`user_id = ${userId}`);
  if (model !== undefined) filters.push(sql`model_name = ${model}`);
  if (channel !== undefined) filters.push(sql`channel = ${channel}`);
  if (operation !== undefined) filters.push(sql`operation = ${operation}`);
  const filter = sql.join(filters, sql` and `);
  // For the planner: without a number it takes a third of the log for what is not in the figures.
  const known = await markOf(db);
  const days = onDays(db, dayOf(since * 1000), dayOf(until * 1000 - 1));
  const names = by.map((_, index) => `group_${index}`);
  const keys = sql.raw(
    ['unit', ...by.map((one, index) => `${groupColumns[one]} as ${names[index]}`)].join(', '),
  );
  const groups = sql.raw(['unit', ...names].join(', '));
  const order = sql.raw([...names, 'unit'].join(', '));
  const { rows } = await sql<Row>`
    select ${groups}, ${summed}, sum(refunded) as refunded from (
      select ${keys}, ${sql.raw(figureSums.join(', '))}, longest_ms, refunded from (
        select ${figureColumns}, 0 as refunded from log_figures where hour >= ${since} and hour < ${until} and ${filter}
        union all
        select ${entryColumns}, 0 as refunded from request_log
        where id > ${known} and id > (select rolled_to from log_figures_mark)
          and created_at >= ${since} and created_at < ${until} and ${days} and ${filter}
        union all
        select ${refundColumns}, amount as refunded from refunds
        where created_at >= ${since * 1000} and created_at < ${until * 1000} and ${filter}
      ) as f
    ) as g
    group by ${groups} order by ${order} limit ${mostGroups + 1}`.execute(db);
  if (rows.length > mostGroups) return { groups: [], more: true };
  const found = new Map<string, FigureGroup>();
  for (const row of rows) {
    const group = names.map((name) => row[name] ?? '');
    const key = JSON.stringify(group);
    const before = found.get(key)?.figures ?? noFigures;
    found.set(key, { group, figures: addFigures(before, figuresOf(row)) });
  }
  return { groups: [...found.values()], more: false };
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

/** Milliseconds that at least this share of the requests took at most: the next of the steps, or what the longest took. */
export function atMost(figures: Figures, share: number): number {
  const wanted = figures.requests * share;
  const step = latencySteps.find((one) => figures[`ms_${one}` satisfies LatencyStep] >= wanted);
  return Math.min(step ?? figures.longest_ms, figures.longest_ms);
}

async function markOf(db: Kysely<Database>): Promise<number> {
  const mark = await db.selectFrom('log_figures_mark').select('rolled_to').executeTakeFirst();
  return mark?.rolled_to ?? 0;
}

/** The end of the log as it is, and how much of it is not in the figures. */
export async function readLogEnd(db: Kysely<Database>): Promise<LogEnd> {
  // What has a lower number belongs to a transaction that has a number of its own by now: it changed the ledger first.
  const below = isPostgres(db) ? sql`pg_snapshot_xmax(pg_current_snapshot())::text` : sql`null`;
  const { rows } = await sql<LogEnd>`
    select coalesce(max(id), 0) as id, ${below} as below from request_log`.execute(db);
  const [end] = rows;
  if (end === undefined) throw new Error('the log gave no end');
  return { ...end };
}
