import type { Kysely } from 'kysely';
import { searchDeliveries } from './queries/delivery-search.ts';
import { showFigures } from './queries/figures.ts';
import { searchLog } from './queries/log-search.ts';
import { searchTasks } from './queries/task-search.ts';
import type { Database } from './schema.ts';

/**
 * Queries that may take longer than a look-up. On SQLite they run in a thread of their own, so their arguments and
 * results are plain data.
 */
export const reports = { searchLog, showFigures, searchTasks, searchDeliveries };

export type ReportName = keyof typeof reports;
export type ReportArgs<Name extends ReportName> = Parameters<(typeof reports)[Name]>[1];
export type ReportResult<Name extends ReportName> = Awaited<ReturnType<(typeof reports)[Name]>>;

/** For the engines, which carry arguments without looking at them. */
export function reportNamed(name: ReportName): (db: Kysely<Database>, args: unknown) => Promise<unknown> {
  return reports[name] as (db: Kysely<Database>, args: unknown) => Promise<unknown>;
}
