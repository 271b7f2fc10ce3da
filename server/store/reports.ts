import { auditLedger } from './queries/audit.ts';
import { sumChannelSpending } from './queries/channel-spending.ts';
import { searchCallbacks, searchDeliveries } from './queries/delivery-search.ts';
import { listEndpointDeliveries } from './queries/endpoints.ts';
import { detectEvents } from './queries/event-search.ts';
import { showFigures } from './queries/figures.ts';
import { countGroups } from './queries/group-counts.ts';
import { exportPage, exportRange } from './queries/log-export.ts';
import { searchLog } from './queries/log-search.ts';
import { countOpenWork } from './queries/open-work.ts';
import { listOwnLog, ownLogLines } from './queries/own-log.ts';
import { listOwnTasks } from './queries/own-tasks.ts';
import { calculateStatement, closedStatement, statementMonths } from './queries/statements.ts';
import { readTaskHistory } from './queries/task-history.ts';
import { searchTasks } from './queries/task-search.ts';
import { searchTokens } from './queries/tokens.ts';
import { searchUsers } from './queries/users.ts';
import type { Db } from './schema.ts';
import { inSnapshot } from './snapshot.ts';

/** Queries that can take long. On SQLite they run in worker threads, so their arguments and results are plain data. */
const reports = {
  searchLog,
  listOwnLog,
  ownLogLines,
  searchTasks,
  listOwnTasks,
  readTaskHistory: (db: Db, args: Parameters<typeof readTaskHistory>[1]) =>
    inSnapshot(db, (snapshot) => readTaskHistory(snapshot, args)),
  searchDeliveries,
  searchCallbacks,
  listEndpointDeliveries,
  detectEvents,
  searchUsers,
  searchTokens,
  countGroups: (db: Db, _args: null) => countGroups(db),
  showFigures,
  sumChannelSpending,
  statementMonths,
  closedStatement,
  calculateStatement: (db: Db, args: Parameters<typeof calculateStatement>[1]) =>
    inSnapshot(db, (snapshot) => calculateStatement(snapshot, args)),
  countOpenWork,
  exportRange,
  exportPage,
  auditLedger: (db: Db, _args: null) => inSnapshot(db, auditLedger),
};

export type ReportName = keyof typeof reports;
export type ReportArgs<Name extends ReportName> = Parameters<(typeof reports)[Name]>[1];
export type ReportResult<Name extends ReportName> = Awaited<ReturnType<(typeof reports)[Name]>>;

/** On SQLite each lane is a thread, which runs its reports one after the other. */
export type ReportLane = 'searches' | 'figures' | 'exports' | 'audits';

const figureReports: ReadonlySet<ReportName> = new Set<ReportName>([
  'showFigures',
  'countOpenWork',
  'sumChannelSpending',
  'calculateStatement',
]);

/** Returns the lane of a report. */
export function laneOf(name: ReportName): ReportLane {
  if (name === 'auditLedger') return 'audits';
  if (figureReports.has(name)) return 'figures';
  const isExport = name === 'exportRange' || name === 'exportPage' || name === 'ownLogLines';
  return isExport ? 'exports' : 'searches';
}

/** Runs a report whose arguments were checked by the caller of the store. */
export function runReport(db: Db, name: ReportName, args: unknown): Promise<unknown> {
  return (reports[name] as (db: Db, args: unknown) => Promise<unknown>)(db, args);
}
