import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { columnNames } from '../columns.ts';
import { control, csvLine } from '../csv.ts';
import { dayOf, onDays } from '../log-days.ts';
import { isError } from '../log-figures.ts';
import type { Db, RequestLogTable } from '../schema.ts';
import { allOf, equalities } from '../statement.ts';
import { refundsOf } from './charges.ts';
import { keysOfMember } from './members.ts';

/** Conditions for exported entries. */
export interface ExportFilter {
  userId?: number | undefined;
  tokenId?: number | undefined;
  memberId?: number | undefined;
  model?: string | undefined;
  channel?: string | undefined;
  operation?: string | undefined;
  status?: number | undefined;
  /** Only entries with a status of 400 or more, and failed tasks. */
  errors?: boolean | undefined;
  requestId?: string | undefined;
  taskId?: string | undefined;
  /** Unix seconds. `until` is excluded. */
  since?: number | undefined;
  until?: number | undefined;
}

export type ExportFormat = 'csv' | 'jsonl';

/** Ids of the entries of an export: greater than `after`, and at most `upTo`. */
export interface ExportRange {
  after: number;
  upTo: number;
}

interface ExportPage {
  /** Complete lines; empty when no entry of the page matches. */
  text: string;
  /** Id of the last entry that was read. */
  last: number;
}

const columns = columnNames(
  'id, request_id, user_id, token_id, token_name, model_name, operation, channel, status, error_code, unit, units',
  'prompt_tokens, completion_tokens, quota, duration_ms, created_at, state, task_id, upstream_id, unit_price, price_rule',
  'group_ratio, group_name, config_revision, cost, debt',
);

const fields = [...columns, 'refunded'] as const;

type Entry = Pick<Selectable<RequestLogTable>, (typeof columns)[number]>;

/** A line of an export. */
type ExportedEntry = Entry & {
  /** Quota that a refund returned. */
  refunded: number;
};

/** Returns the fields of an export, in their order. */
export function exportedEntry(entry: Entry, refunded: number): ExportedEntry {
  const all = { ...entry, refunded };
  return Object.fromEntries(fields.map((name) => [name, all[name]])) as unknown as ExportedEntry;
}

/** Largest number of entries that a page returns, and that it reads, so that each query is short. */
const pageSize = 500;
const maxRead = 25_000;

/** Returns the range of the entries that exist now, so that an export ends while entries are added. */
export async function exportRange(db: Db, { after }: { after: number }): Promise<ExportRange> {
  const { rows } = await sql<{ first: number; last: number }>`
    select coalesce((select min(id) from request_log), 0) as first,
      coalesce((select max(id) from request_log), 0) as last`.execute(db);
  const { first = 0, last = 0 } = rows[0] ?? {};
  return { after: Math.max(after, first - 1), upTo: last };
}

/** Returns the next lines of an export. They are formatted here, since on SQLite this is not the main thread. */
export async function exportPage(
  db: Db,
  { after, upTo, format, filter }: ExportRange & { format: ExportFormat; filter: ExportFilter },
): Promise<ExportPage> {
  // An index finds an id in the complete range.
  const hasId = filter.requestId !== undefined || filter.taskId !== undefined;
  const end = hasId ? upTo : Math.min(upTo, after + maxRead);
  const found = await db
    .selectFrom('request_log')
    .select(columns)
    .where('id', '>', after)
    .where('id', '<=', end)
    .where(allOf(conditions(db, filter)))
    .orderBy('id')
    .limit(pageSize)
    .execute();
  const line = format === 'csv' ? entryLine : jsonLine;
  const refunds = await refundsOf(db, found);
  return {
    text: found.map((entry) => line(exportedEntry(entry, refunds.get(entry.request_id) ?? 0))).join(''),
    last: found.length < pageSize ? end : (found.at(-1)?.id ?? end),
  };
}

function conditions(db: Db, filter: ExportFilter): RawBuilder<SqlBool>[] {
  const { userId, tokenId, model, channel, operation, status, requestId, taskId, since, until } = filter;
  const { memberId } = filter;
  const all = [
    onDays(db, dayOf((since ?? -Infinity) * 1000), dayOf((until ?? Infinity) * 1000 - 1)),
    ...equalities({ user_id: userId, token_id: tokenId, model_name: model, channel, operation, status }),
    ...equalities({ request_id: requestId, task_id: taskId }),
  ];
  if (memberId !== undefined) all.push(sql`token_id in ${keysOfMember(memberId)}`);
  if (filter.errors === true) all.push(sql`${sql.raw(isError)}`);
  if (since !== undefined) all.push(sql`created_at >= ${since}`);
  if (until !== undefined) all.push(sql`created_at < ${until}`);
  return all;
}

export const csvHeader = `${fields.join(',')}\r\n`;

const entryLine = (entry: ExportedEntry) => csvLine(fields.map((name) => entry[name]));

/** Formats a line of JSON, with escaped control characters. */
function jsonLine(entry: ExportedEntry): string {
  return `${JSON.stringify(entry).replaceAll(control, unicodeEscape)}\n`;
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
