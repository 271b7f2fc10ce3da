import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { dayOf, onDays } from '../log-days.ts';
import { isError } from '../log-figures.ts';
import type { Database, RequestLogTable } from '../schema.ts';
import { refundsOf } from './charges.ts';

/** Which entries of the log are told. */
export interface ExportFilter {
  userId?: number | undefined;
  tokenId?: number | undefined;
  model?: string | undefined;
  channel?: string | undefined;
  operation?: string | undefined;
  status?: number | undefined;
  /** Only those with a status from 400 on, and those that failed after it was sent. */
  errors?: boolean | undefined;
  requestId?: string | undefined;
  taskId?: string | undefined;
  /** Unix seconds, from the first up to and without the second. */
  since?: number | undefined;
  until?: number | undefined;
}

export type ExportFormat = 'csv' | 'jsonl';

/** The numbers that an export goes through: those after the first, up to the second. */
export interface ExportRange {
  after: number;
  upTo: number;
}

export interface ExportPage {
  /** Whole lines; empty when none of the entries looked at is told. */
  text: string;
  /** The number of the last entry that was looked at. */
  last: number;
}

const columns = [
  'id',
  'request_id',
  'user_id',
  'token_id',
  'token_name',
  'model_name',
  'operation',
  'channel',
  'status',
  'error_code',
  'unit',
  'units',
  'prompt_tokens',
  'completion_tokens',
  'quota',
  'duration_ms',
  'created_at',
  'state',
  'task_id',
  'upstream_id',
  'unit_price',
  'group_ratio',
  'group_name',
  'config_revision',
  'debt',
] as const;

const fields = [...columns, 'refunded'] as const;

/** A line of an export. */
export type ExportedEntry = Pick<Selectable<RequestLogTable>, (typeof columns)[number]> & {
  /** Quota that a refund gave back. */
  refunded: number;
};

/** Returns the fields of an export, in their order. */
export function exportedEntry(
  entry: Pick<Selectable<RequestLogTable>, (typeof columns)[number]>,
  refunded: number,
): ExportedEntry {
  const all = { ...entry, refunded };
  return Object.fromEntries(fields.map((name) => [name, all[name]])) as unknown as ExportedEntry;
}

/** Entries of a page, and those that are looked at for one, so that no query is long. */
const pageSize = 500;
const looked = 25_000;

/** What there is to export at the moment: without an end, an export would never come to the entries written meanwhile. */
export async function exportRange(db: Kysely<Database>, { after }: { after: number }): Promise<ExportRange> {
  const { rows } = await sql<{ first: number; last: number }>`
    select coalesce((select min(id) from request_log), 0) as first,
      coalesce((select max(id) from request_log), 0) as last`.execute(db);
  const { first = 0, last = 0 } = rows[0] ?? {};
  return { after: Math.max(after, first - 1), upTo: last };
}

/**
 * The next lines of an export. They are made here and not where they are sent from, so that on SQLite the making of
 * them, too, takes none of the main thread's time.
 */
export async function exportPage(
  db: Kysely<Database>,
  { after, upTo, format, filter }: ExportRange & { format: ExportFormat; filter: ExportFilter },
): Promise<ExportPage> {
  // An index finds an id, wherever it is.
  const hasId = filter.requestId !== undefined || filter.taskId !== undefined;
  const end = hasId ? upTo : Math.min(upTo, after + looked);
  const found = await db
    .selectFrom('request_log')
    .select(columns)
    .where('id', '>', after)
    .where('id', '<=', end)
    .where(sql<SqlBool>`${sql.join(conditions(db, filter), sql` and `)}`)
    .orderBy('id')
    .limit(pageSize)
    .execute();
  const line = format === 'csv' ? csvLine : jsonLine;
  const refunds = await refundsOf(
    db,
    found.map(({ request_id: id }) => id),
  );
  return {
    text: found.map((entry) => line(exportedEntry(entry, refunds.get(entry.request_id) ?? 0))).join(''),
    last: found.length < pageSize ? end : (found.at(-1)?.id ?? end),
  };
}

function conditions(db: Kysely<Database>, filter: ExportFilter): RawBuilder<SqlBool>[] {
  const { since, until } = filter;
  const all = [onDays(db, dayOf((since ?? -Infinity) * 1000), dayOf((until ?? Infinity) * 1000 - 1))];
  const equal = (column: string, value: string | number | undefined) => {
    if (value !== undefined) all.push(sql`${sql.ref(column)} = ${value}`);
  };
  equal('user_id', filter.userId);
  equal('token_id', filter.tokenId);
  equal('model_name', filter.model);
  equal('channel', filter.channel);
  equal('operation', filter.operation);
  equal('status', filter.status);
  equal('request_id', filter.requestId);
  equal('task_id', filter.taskId);
  if (filter.errors === true) all.push(sql`${sql.raw(isError)}`);
  if (since !== undefined) all.push(sql`created_at >= ${since}`);
  if (until !== undefined) all.push(sql`created_at < ${until}`);
  return all;
}

export const csvHeader = `${fields.join(',')}\r\n`;

const csvLine = (entry: ExportedEntry) => `${fields.map((name) => csvField(entry[name])).join(',')}\r\n`;

/** What a spreadsheet would calculate, and what begins as what keeps it from that. */
const formula = /^['\t\r\n]|^\s*[=+\-@＝＋－＠]/;

/** Characters that a terminal or an editor carries out instead of showing them. */
const control = /\p{Cc}|\p{Bidi_Control}/gu;

/**
 * A field of RFC 4180. Every text is in quotes, so that no other separator divides it, and has an apostrophe before it
 * where a spreadsheet would take it for a formula. U+FFFD stands in the place of control characters.
 */
function csvField(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const shown = value.replaceAll(control, '\uFFFD');
  return `"${formula.test(value) ? "'" : ''}${shown.replaceAll('"', '""')}"`;
}

/** One line of JSON, with every control character as an escape. */
function jsonLine(entry: ExportedEntry): string {
  return `${JSON.stringify(entry).replaceAll(control, unicodeEscape)}\n`;
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
