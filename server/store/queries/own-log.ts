import { csvLine } from '../csv.ts';
import type { Db } from '../schema.ts';
import { type FoundEntry, type LogSearch, searchLog } from './log-search.ts';

/** Conditions for entries of the caller's log. */
export type OwnLogFilter = Omit<LogSearch, 'keyword' | 'offset' | 'limit'>;

const fields = [
  'id',
  'created_at',
  'request_id',
  'task_id',
  'token_id',
  'token_name',
  'model_name',
  'operation',
  'status',
  'state',
  'error_code',
  'unit',
  'units',
  'prompt_tokens',
  'completion_tokens',
  'unit_price',
  'price_rule',
  'group_ratio',
  'quota',
  'debt',
  'refunded',
  'duration_ms',
] as const satisfies readonly (keyof FoundEntry)[];

export type OwnLogEntry = Pick<FoundEntry, (typeof fields)[number]>;

/** Returns a page of the entries that a caller sees, newest first. */
export async function listOwnLog(
  db: Db,
  { limit, ...filter }: OwnLogFilter & { limit: number },
): Promise<{ entries: OwnLogEntry[]; hasMore: boolean }> {
  const { entries } = await searchLog(db, { ...filter, keyword: '', offset: 0, limit: limit + 1 });
  return { entries: entries.slice(0, limit).map(ownLogEntry), hasMore: entries.length > limit };
}

function ownLogEntry(entry: FoundEntry): OwnLogEntry {
  return Object.fromEntries(fields.map((name) => [name, entry[name]])) as OwnLogEntry;
}

export const ownLogHeader = `${fields.join(',')}\r\n`;

/** Largest number of lines of a page, so that each query is short. */
const pageSize = 500;

/** Returns the next lines of an export and the id of their last entry. Undefined: no lines follow. */
export async function ownLogLines(
  db: Db,
  filter: OwnLogFilter,
): Promise<{ text: string; last: number | undefined }> {
  const { entries, hasMore } = await listOwnLog(db, { ...filter, limit: pageSize });
  const text = entries.map((entry) => csvLine(fields.map((name) => entry[name]))).join('');
  return { text, last: hasMore ? entries.at(-1)?.id : undefined };
}
