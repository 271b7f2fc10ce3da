import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from './schema.ts';

/** Milliseconds. Of each it is counted how many requests took no longer. */
export const latencySteps = [
  50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000, 300_000,
] as const;

export type LatencyStep = `ms_${(typeof latencySteps)[number]}`;

/** What figures are kept by. */
export const figureKeys = ['hour', 'user_id', 'model_name', 'channel', 'operation', 'unit'] as const;

export type FigureKey = (typeof figureKeys)[number];

/** What is added up. */
export const figureSums = [
  'requests',
  'errors',
  'quota',
  'units',
  'prompt_tokens',
  'completion_tokens',
  'duration_ms',
  ...latencySteps.map((step): LatencyStep => `ms_${step}`),
] as const;

export type FigureSum = (typeof figureSums)[number];

/** Whether an entry of the log is an error. The HTTP status of a failed task is the one of its creation. */
export const isError = `(status >= 400 or state = 'failed')`;

/** The columns of figures in an entry of the log, where they are not columns of it. */
const ofEntry: Readonly<Record<string, string>> = {
  hour: 'created_at - created_at % 3600',
  requests: '1',
  errors: `case when ${isError} then 1 else 0 end`,
  longest_ms: 'duration_ms',
  ...Object.fromEntries(
    latencySteps.map((step) => [`ms_${step}`, `case when duration_ms <= ${step} then 1 else 0 end`]),
  ),
};

const entryColumn = (name: string) => `${ofEntry[name] ?? name} as ${name}`;

/** The columns of `log_figures`, of an entry of the log as if it were one. */
export const figureColumns = sql.raw([...figureKeys, ...figureSums, 'longest_ms'].join(', '));
export const entryColumns = sql.raw([...figureKeys, ...figureSums, 'longest_ms'].map(entryColumn).join(', '));

/** The columns of `log_figures`, of a refund as if it were an entry of the hour in which it was made. */
export const refundColumns = sql.raw(
  [
    'created_at / 3600000 * 3600 as hour',
    ...figureKeys.slice(1),
    ...figureSums.map((name) => `0 as ${name}`),
    '0 as longest_ms',
  ].join(', '),
);

/** The sums of several rows of such columns. */
export const summed = sql.raw(
  [...figureSums.map((name) => `sum(${name}) as ${name}`), 'max(longest_ms) as longest_ms'].join(', '),
);

const keyList = figureKeys.join(', ');
const added = [
  ...figureSums.map((name) => `${name} = log_figures.${name} + excluded.${name}`),
  `longest_ms = case when excluded.longest_ms > log_figures.longest_ms
    then excluded.longest_ms else log_figures.longest_ms end`,
].join(', ');

/**
 * Adds some entries of the log, or of a partition of it, to the figures. In one order, so that two that do this do not wait for each
 * other in a circle.
 */
export async function addToFigures(
  db: Kysely<Database>,
  which: RawBuilder<SqlBool>,
  log = 'request_log',
): Promise<void> {
  await sql`
    insert into log_figures (${figureColumns})
    select ${sql.raw(keyList)}, ${summed} from (select ${entryColumns} from ${sql.table(log)} where ${which}) as e
    where true group by ${sql.raw(keyList)} order by ${sql.raw(keyList)}
    on conflict (${sql.raw(keyList)}) do update set ${sql.raw(added)}`.execute(db);
}
