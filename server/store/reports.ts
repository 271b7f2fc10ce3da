import type { Kysely } from 'kysely';
import { auditLedger } from './queries/audit.ts';
import { searchDeliveries } from './queries/delivery-search.ts';
import { showFigures } from './queries/figures.ts';
import { countGroups } from './queries/group-counts.ts';
import { exportPage, exportRange } from './queries/log-export.ts';
import { searchLog } from './queries/log-search.ts';
import { countOpenWork } from './queries/open-work.ts';
import { searchTasks } from './queries/task-search.ts';
import { searchTokens } from './queries/tokens.ts';
import { searchUsers } from './queries/users.ts';
import type { Database } from './schema.ts';
import { inSnapshot } from './snapshot.ts';

/** Queries that can take long. On SQLite they run in threads of their own, so their arguments and results are plain data. */
export const reports = {
  searchLog,
  searchTasks,
  searchDeliveries,
  showFigures,
  countOpenWork,
  exportRange,
  exportPage,
  auditLedger: (db: Kysely<Database>, _nothing: null) => inSnapshot(db, auditLedger),
  searchUsers,
  searchTokens,
  countGroups: (db: Kysely<Database>, _nothing: null) => countGroups(db),
};

export type ReportName = keyof typeof reports;
export type ReportArgs<Name extends ReportName> = Parameters<(typeof reports)[Name]>[1];
export type ReportResult<Name extends ReportName> = Awaited<ReturnType<(typeof reports)[Name]>>;

/** On SQLite each lane is a thread, in which reports run one after the other. */
export type ReportLane = 'searches' | 'figures' | 'exports' | 'audits';

export const laneOf: Readonly<Record<ReportName, ReportLane>> = {
  searchLog: 'searches',
  searchTasks: 'searches',
  searchDeliveries: 'searches',
  searchUsers: 'searches',
  searchTokens: 'searches',
  countGroups: 'searches',
  showFigures: 'figures',
  countOpenWork: 'figures',
  exportRange: 'exports',
  exportPage: 'exports',
  auditLedger: 'audits',
};

/** Returns a report for the engines, which pass on its arguments unread. */
export function reportNamed(name: ReportName): (db: Kysely<Database>, args: unknown) => Promise<unknown> {
  return reports[name] as (db: Kysely<Database>, args: unknown) => Promise<unknown>;
}
