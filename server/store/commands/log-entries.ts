import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { AppliedRule } from '../../settings/price-rules.ts';
import type { CamelCased } from '../columns.ts';
import { onDaysOf } from '../log-days.ts';
import { columnsOf, rowsOf, storable } from '../rows.ts';
import type { Db, FinalState, RequestLogTable } from '../schema.ts';
import { isPostgres, type QueryWithOptions, withOptions } from '../statement.ts';

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
type NewEntry = Pick<Entry, FromReservation> & {
  model: string;
  /** The lease that has the reservation. Its wallet, if it has one, pays. Null or absent: none. */
  lease?: string | null;
  /** Whether a wallet pays. Default: only if that of the lease does. */
  wallet?: 0 | 1;
  log: LogEntry;
  now: number;
};

/** The charge and the debt of an entry whose payer could not pay the complete cost, or was not known. */
type Correction = { requestId: string; quota: number; debt: number; wallet: 0 | 1 };

/** Corrects entries of some times (ms) that this transaction wrote before the balance was known, since the log is locked first. */
export async function correctEntries(trx: Db, entries: readonly Correction[], times: readonly number[]) {
  if (entries.length === 0) return;
  await sql`
    update request_log set quota = e.quota, debt = e.debt, wallet = e.wallet from ${rowsOf(trx, entries)} as e
    where request_log.request_id = e.request_id and ${onDaysOf(trx, times)}`.execute(trx);
}

/** Most entries of a statement on SQLite, where each number of entries has its own statement. */
const maxValues = 16;

/**
 * Writes entries of the log, on PostgreSQL into the partitions of their days, unless the log has their request ids. Their ids have the
 * order of the list. Returns `wallet` of each entry that it wrote, by request id.
 */
export async function writeEntries(trx: Db, entries: readonly NewEntry[]): Promise<Map<string, 0 | 1>> {
  const written = new Map<string, 0 | 1>();
  const size = isPostgres(trx) ? entries.length : maxValues;
  for (let start = 0; start < entries.length; start += size) {
    const rows = entries.slice(start, start + size).map(rowOf);
    const query = isPostgres(trx) ? insertRecords(trx, rows) : insertValues(trx, rows);
    const result = await trx.executeQuery<Written>(query);
    for (const { request_id: id, wallet } of result.rows) written.set(id, wallet);
  }
  return written;
}

const rowOf = ({ log, ...entry }: NewEntry, ordinal: number) => ({
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
  cost: log.cost ?? null,
  price_rule: jsonOrNull(log.evidence.appliedRule),
  group_ratio: log.evidence.groupRatio,
  group_name: log.evidence.group,
  config_revision: log.evidence.configRevision,
  task_id: log.evidence.taskId ?? null,
  upstream_id: log.evidence.upstreamId ?? null,
  state: log.evidence.state,
  debt: entry.debt,
  // The rest is not copied to the log as it is.
  wallet: entry.wallet ?? 0,
  lease: entry.lease ?? null,
  ordinal,
});

type Row = ReturnType<typeof rowOf>;
type Written = { request_id: string; wallet: 0 | 1 };

function insertRecords(trx: Db, rows: readonly Row[]): QueryWithOptions {
  const source = sql`${rowsOf(trx, rows)} as e`;
  // PostgreSQL can join in any order.
  const insert = insertFrom(source, columnsOf(rows), {
    day: sql`e.created_at / 86400`,
    order: sql`order by e.ordinal`,
  });
  return withOptions(insert.compile(trx), { prepared: true });
}

/** Texts of statements by their number of entries. */
const valueTexts = new Map<number, string>();

/** Each value is a parameter, since SQLite reads JSON of this width more slowly than it writes the entries. */
function insertValues(trx: Db, rows: readonly Row[]): CompiledQuery {
  const text = valueTexts.getOrInsertComputed(rows.length, () => {
    const columns = columnsOf(rows);
    const names = columns.map((column, index) => `column${index + 1} as ${column}`).join(', ');
    const values = rows.map(() => `(${columns.map(() => '?').join(', ')})`).join(', ');
    const source = sql`(select ${sql.raw(names)} from (values ${sql.raw(values)})) as e`;
    return insertFrom(source, columns).compile(trx).sql;
  });
  return CompiledQuery.raw(
    text,
    rows.flatMap((row) => Object.values(row).map(storable)),
  );
}

/** Inserts entries from a table of rows `e`. Leases are not locked, so their wallets can change afterwards. */
function insertFrom(
  source: RawBuilder<unknown>,
  rowColumns: readonly string[],
  postgres?: { day: RawBuilder<unknown>; order: RawBuilder<unknown> },
): RawBuilder<Written> {
  const columns = rowColumns.slice(0, rowColumns.indexOf('wallet'));
  return sql<Written>`
    insert into request_log (${sql.raw(columns.join(', '))}, wallet, token_name${postgres ? sql`, day` : sql``})
    select ${sql.raw(columns.map((column) => `e.${column}`).join(', '))},
      case when l.wallet_id is null then e.wallet else 1 end, coalesce(t.name, '')${postgres ? sql`, ${postgres.day}` : sql``}
    from ${source} left join quota_leases l on l.id = e.lease left join tokens t on t.id = e.token_id
    where true ${postgres?.order ?? sql``}
    on conflict do nothing returning request_id, wallet`;
}

function jsonOrNull(rule: AppliedRule | null | undefined): string | null {
  return rule === null || rule === undefined ? null : JSON.stringify(rule);
}
