import { sql } from 'kysely';
import type { AppliedRule } from '../../settings/price-rules.ts';
import type { CamelCased } from '../columns.ts';
import { onDaysOf } from '../log-days.ts';
import { columnsOf, rowsOf } from '../rows.ts';
import type { Db, FinalState, RequestLogTable } from '../schema.ts';
import { execute, isPostgres } from '../statement.ts';

type Entry = CamelCased<RequestLogTable>;

/** The part of a log entry that the reservation does not have. `units`: in the model's own unit. */
export interface LogEntry extends Pick<Entry, 'operation' | 'channel' | 'status' | 'units' | 'durationMs'> {
  errorCode?: string | null;
  promptTokens?: number;
  completionTokens?: number;
  /** Cost at the provider in quota units. Null or absent: unknown. */
  cost?: number | null;
  evidence: Evidence;
}

/** Explains a charge. Only operators see it, except the task id. */
export interface Evidence {
  /** Quota per unit, before the group's ratio. Null: the rule has the prices. */
  unitPrice: number | null;
  /** The price rule and the figures that it priced. Null or absent: every unit has the same price. */
  appliedRule?: AppliedRule | null;
  groupRatio: number;
  /** The group whose ratio applied. */
  group: string;
  /** Revision of the configuration that set the price. */
  configRevision: string;
  state: FinalState;
  /** Public id of the task; absent for calls. */
  taskId?: string | null;
  /** The provider's own id of the task or request. */
  upstreamId?: string | null;
}

type FromReservation =
  | 'requestId'
  | 'userId'
  | 'tokenId'
  | 'unit'
  | 'quota'
  | 'debt'
  | 'reserved'
  | 'unlimited';

/** The record of a finished call or task, closed at `now` in epoch milliseconds. */
type NewEntry = Pick<Entry, FromReservation> & { model: string; wallet: 0 | 1; log: LogEntry; now: number };

/** The charge and the debt of an entry whose payer could not pay the complete cost, or was not known. */
type Correction = { requestId: string; quota: number; debt: number; wallet: 0 | 1 };

/** Corrects entries of some times (ms) that this transaction wrote before the balance was known, since the log is locked first. */
export async function correctEntries(trx: Db, entries: readonly Correction[], times: readonly number[]) {
  if (entries.length === 0) return;
  await sql`
    update request_log set quota = e.quota, debt = e.debt, wallet = e.wallet from ${rowsOf(trx, entries)} as e
    where request_log.request_id = e.request_id and ${onDaysOf(trx, times)}`.execute(trx);
}

/** Writes entries of the log, on PostgreSQL into the partitions of their days. */
export async function writeEntries(trx: Db, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ log, ...entry }) => ({
    request_id: entry.requestId,
    user_id: entry.userId,
    token_id: entry.tokenId,
    model_name: entry.model,
    operation: log.operation,
    channel: log.channel,
    status: log.status,
    error_code: log.errorCode ?? null,
    unit: entry.unit,
    units: log.units,
    prompt_tokens: log.promptTokens ?? 0,
    completion_tokens: log.completionTokens ?? 0,
    quota: entry.quota,
    duration_ms: log.durationMs,
    created_at: Math.floor(entry.now / 1000),
    reserved: entry.reserved,
    unlimited: entry.unlimited,
    wallet: entry.wallet,
    unit_price: log.evidence.unitPrice,
    cost: log.cost ?? null,
    price_rule: jsonOrNull(log.evidence.appliedRule),
    group_ratio: log.evidence.groupRatio,
    group_name: log.evidence.group,
    config_revision: log.evidence.configRevision,
    task_id: log.evidence.taskId ?? null,
    upstream_id: log.evidence.upstreamId ?? null,
    state: log.evidence.state,
    debt: entry.debt,
  }));
  const columns = sql.raw(columnsOf(rows).join(', '));
  const [day, dayOfEntry] = isPostgres(trx) ? [sql`, day`, sql`, created_at / 86400`] : [sql``, sql``];
  const insert = sql`
    insert into request_log (${columns}, token_name${day})
    select ${columns}, coalesce((select name from tokens where id = token_id), '')${dayOfEntry}
    from ${rowsOf(trx, rows)} as e`;
  await execute(trx, insert, { prepared: true, pipelined: true });
}

function jsonOrNull(rule: AppliedRule | null | undefined): string | null {
  return rule === null || rule === undefined ? null : JSON.stringify(rule);
}
