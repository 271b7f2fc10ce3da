import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from './schema.ts';

/** Upper bounds of the latency histogram, in milliseconds. The counts are cumulative. */
export const latencySteps = [
  50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000, 300_000,
] as const;

export type LatencyStep = `ms_${(typeof latencySteps)[number]}`;

/** Columns by which `log_figures` groups entries. */
const figureKeys = ['hour', 'user_id', 'token_id', 'model_name', 'channel', 'operation', 'unit'] as const;

/** Columns that are sums over entries. */
export const figureSums = [
  'requests',
  'errors',
  'quota',
  'cost',
  'channel_spent',
  'spent',
  'wallet_spent',
  'debt',
  'wallet_debt',
  'units',
  'prompt_tokens',
  'completion_tokens',
  'duration_ms',
  ...latencySteps.map((step): LatencyStep => `ms_${step}`),
] as const;

export type FigureSum = (typeof figureSums)[number];

/** Condition that an entry is an error. The HTTP status of a failed task is that of its creation. */
export const isError = `(status >= 400 or state = 'failed')`;

/** Values of an entry for columns of `log_figures` that the log does not have. */
const entryValues: Readonly<Record<string, string>> = {
  hour: 'created_at - created_at % 3600',
  requests: '1',
  errors: `case when ${isError} then 1 else 0 end`,
  cost: 'coalesce(cost, 0)',
  channel_spent: 'coalesce(cost, quota)',
  spent: 'case when unlimited = 0 or wallet = 1 then quota else 0 end',
  wallet_spent: 'quota * wallet',
  wallet_debt: 'debt * wallet',
  longest_ms: 'duration_ms',
  ...Object.fromEntries(
    latencySteps.map((step) => [`ms_${step}`, `case when duration_ms <= ${step} then 1 else 0 end`]),
  ),
};

const columns = [...figureKeys, ...figureSums, 'longest_ms'];

/** The columns of `log_figures`. */
export const figureColumns = sql.raw(columns.join(', '));

/** The columns of `log_figures` for one entry of the log. */
export const entryColumns = sql.raw(
  columns.map((name) => `${entryValues[name] ?? name} as ${name}`).join(', '),
);

/** The columns of `log_figures` for a refund, in the hour of the refund. */
export const refundColumns = sql.raw(
  [
    'created_at / 3600000 * 3600 as hour',
    ...figureKeys.slice(1),
    ...figureSums.map((name) => `0 as ${name}`),
    '0 as longest_ms',
  ].join(', '),
);

/** Aggregates such columns over several rows. */
export const summed = sql.raw(
  [...figureSums.map((name) => `sum(${name}) as ${name}`), 'max(longest_ms) as longest_ms'].join(', '),
);

const keyList = sql.raw(figureKeys.join(', '));
const added = sql.raw(
  [
    ...figureSums.map((name) => `${name} = log_figures.${name} + excluded.${name}`),
    `longest_ms = case when excluded.longest_ms > log_figures.longest_ms
      then excluded.longest_ms else log_figures.longest_ms end`,
  ].join(', '),
);

/** Adds entries of the log, or of one of its partitions, to the figures. In the order of keys, so that two transactions do not deadlock. */
export async function addToFigures(db: Db, condition: RawBuilder<SqlBool>, log = 'request_log') {
  await sql`
    insert into log_figures (${figureColumns})
    select ${keyList}, ${summed} from (select ${entryColumns} from ${sql.table(log)} where ${condition}) as e
    where true group by ${keyList} order by ${keyList}
    on conflict (${keyList}) do update set ${added}`.execute(db);
}
