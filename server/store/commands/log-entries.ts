import { type Kysely, sql } from 'kysely';
import { onDays } from '../log-days.ts';
import { type ColumnType, rowsOf } from '../rows.ts';
import type { Database, FinalState } from '../schema.ts';
import { execute, isPostgres, type SqlValue } from '../statement.ts';

/** The part of a log entry that the caller knows. Key, model and quota come from the reservation. */
export interface LogEntry {
  operation: string;
  channel: string;
  /** HTTP status given to the client. */
  status: number;
  errorCode?: string | null;
  /** In the model's own unit. */
  units: number;
  promptTokens?: number;
  completionTokens?: number;
  durationMs: number;
  evidence: Evidence;
}

/** Explains a charge afterwards. Only operators see it, except the task id. */
export interface Evidence {
  /** Quota per unit, before the group's ratio. */
  unitPrice: number;
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

/** The record of a finished call or task. */
export interface WholeEntry {
  requestId: string;
  userId: number;
  tokenId: number;
  model: string;
  unit: string;
  /** Quota that was charged. */
  quota: number;
  /** Quota that it cost beyond that, a debt of the key. */
  debt: number;
  /** Quota that was reserved for it. */
  reserved: number;
  /** 1: the key had no limit when reserving. */
  unlimited: 0 | 1;
  log: LogEntry;
  /** When it was closed, in epoch milliseconds. */
  now: number;
}

const columns = {
  request_id: 'text',
  user_id: 'bigint',
  token_id: 'bigint',
  model_name: 'text',
  operation: 'text',
  channel: 'text',
  status: 'integer',
  error_code: 'text',
  unit: 'text',
  units: 'double precision',
  prompt_tokens: 'bigint',
  completion_tokens: 'bigint',
  quota: 'bigint',
  duration_ms: 'bigint',
  created_at: 'bigint',
  reserved: 'bigint',
  unlimited: 'integer',
  unit_price: 'double precision',
  group_ratio: 'double precision',
  group_name: 'text',
  config_revision: 'text',
  task_id: 'text',
  upstream_id: 'text',
  state: 'text',
  debt: 'bigint',
} as const satisfies Record<string, ColumnType>;

const columnList = sql.raw(Object.keys(columns).join(', '));
const tokenName = sql`coalesce((select name from tokens where id = token_id), '')`;

/** The part of a cost that a key paid, of an entry that first recorded the whole cost as paid. */
export interface ShortEntry extends Record<string, SqlValue> {
  request_id: string;
  quota: number;
  debt: number;
}

/**
 * Corrects entries that this transaction wrote, once the balances are known. An entry is written before its key's row is locked,
 * since every writer locks the counts of the log first.
 */
export async function correctEntries(
  trx: Kysely<Database>,
  entries: readonly ShortEntry[],
  { first, last }: { first: number; last: number },
): Promise<void> {
  if (entries.length === 0) return;
  const short = rowsOf(trx, { request_id: 'text', quota: 'bigint', debt: 'bigint' }, entries);
  await sql`
    update request_log set quota = e.quota, debt = e.debt from ${short} as e
    where request_log.request_id = e.request_id and ${onDays(trx, first, last)}`.execute(trx);
}

/** Writes entries of the log, on PostgreSQL into the partitions of their days. */
export async function writeEntries(trx: Kysely<Database>, entries: readonly WholeEntry[]): Promise<void> {
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
    unit_price: log.evidence.unitPrice,
    group_ratio: log.evidence.groupRatio,
    group_name: log.evidence.group,
    config_revision: log.evidence.configRevision,
    task_id: log.evidence.taskId ?? null,
    upstream_id: log.evidence.upstreamId ?? null,
    state: log.evidence.state,
    debt: entry.debt,
  }));
  const [day, ofEntry] = isPostgres(trx) ? [sql`, day`, sql`, created_at / 86400`] : [sql``, sql``];
  const insert = sql`
    insert into request_log (${columnList}, token_name${day})
    select ${columnList}, ${tokenName}${ofEntry} from ${rowsOf(trx, columns, rows)} as e`;
  await execute(trx, insert, { prepared: true, pipelined: true });
}
