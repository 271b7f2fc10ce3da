import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { type Audit, auditLedger } from '../../server/store/queries/audit.ts';
import { readSnapshot } from '../../server/store/read-snapshot.ts';
import type { Database } from '../../server/store/schema.ts';
import type { StoreOptions } from '../../server/store/store.ts';
import type { Recorder } from './recorder.ts';

type StoreLocation = Pick<StoreOptions, 'dataDir' | 'databaseUrl'>;

/** Waits up to `ms` until nothing is held, leased or open. */
export async function waitUntilIdle(location: StoreLocation, ms: number): Promise<Audit> {
  const deadline = performance.now() + ms;
  for (;;) {
    const audit = await readSnapshot(location, auditLedger);
    const isIdle = audit.open === 0 && audit.held === 0 && audit.leased === 0;
    if (isIdle || performance.now() > deadline) return audit;
    await delay(500);
  }
}

interface Entry {
  tokenId: number;
  status: number;
  /** Quota that was charged, and the debt. */
  cost: number;
  times: number;
}

/** Compares the ledger of an idle deployment with the recorded responses. Returns the differences. */
export function ledgerFaults(location: StoreLocation, { responses }: Recorder): Promise<string[]> {
  return readSnapshot(location, async (db) => {
    const entries = await readEntries(db);
    const faults = await balanceFaults(db);
    for (const { requestId, kind, tokenId, status, expectedCost, logged } of responses) {
      const entry = entries.get(requestId);
      const what = `${kind} ${requestId}, answered with ${status}`;
      if (entry === undefined) {
        if (logged) faults.push(`${what}: missing in the log`);
      } else if (entry.tokenId !== tokenId)
        faults.push(`${what}: booked for key ${entry.tokenId}, not ${tokenId}`);
      else if (expectedCost !== undefined && entry.cost !== expectedCost)
        faults.push(`${what}: the log has a cost of ${entry.cost} instead of ${expectedCost}`);
    }
    for (const [requestId, { times }] of entries)
      if (times > 1) faults.push(`request ${requestId}: ${times} entries in the log`);
    const twice = responses.length - new Set(responses.map(({ requestId }) => requestId)).size;
    if (twice > 0) faults.push(`${twice} responses had a duplicate request id`);
    return faults;
  });
}

async function readEntries(db: Kysely<Database>): Promise<Map<string, Entry>> {
  const { rows } = await sql<Entry & { requestId: string }>`
    select request_id as "requestId", min(token_id) as "tokenId", min(status) as status,
      sum(quota + debt) as cost, count(*) as times
    from request_log group by request_id`.execute(db);
  return new Map(rows.map(({ requestId, ...entry }) => [requestId, entry]));
}

type KeySums = Record<
  | 'id'
  | 'granted'
  | 'settled'
  | 'remain'
  | 'leased'
  | 'used'
  | 'logged'
  | 'debt'
  | 'owed'
  | 'refunded'
  | 'corrected',
  number
>;

/**
 * Checks each limited key: grants equal remaining, leased and used quota, the log and settled debts equal used quota, and
 * the log equals the debt.
 */
async function balanceFaults(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<KeySums>`
    select t.id, t.remain_quota as remain, t.leased_quota as leased, t.used_quota as used, t.debt,
      coalesce((select sum(amount) from grants g where g.token_id = t.id), 0) as granted,
      coalesce((select sum(debt_settled) from grants g where g.token_id = t.id), 0) as settled,
      coalesce((select sum(quota) from request_log r where r.token_id = t.id), 0) as logged,
      coalesce((select sum(debt) from request_log r where r.token_id = t.id), 0) as owed,
      coalesce((select sum(amount) from refunds f where f.token_id = t.id), 0) as corrected,
      coalesce((select sum(amount) from refunds f where f.token_id = t.id and f.unlimited = 0), 0) as refunded
    from tokens t where t.unlimited_quota = 0 order by t.id`.execute(db);
  return rows.flatMap((row) => {
    const { id, granted, settled, remain, leased, used, logged, debt, owed, refunded, corrected } = row;
    return [
      ...(granted + refunded === remain + leased + used + corrected
        ? []
        : [`key ${id}: granted ${granted}, but remaining ${remain}, leased ${leased}, spent ${used}`]),
      ...(logged + settled === used + corrected
        ? []
        : [`key ${id}: spent ${used}, but the log has ${logged} and grants settled debts of ${settled}`]),
      ...(debt === owed - settled
        ? []
        : [`key ${id}: a debt of ${debt}, but the log has ${owed} and grants settled ${settled}`]),
    ];
  });
}

/** Returns the remaining quota of each key by id. */
export function readBalances(location: StoreLocation): Promise<Map<number, number>> {
  return readSnapshot(location, async (db) => {
    const rows = await db.selectFrom('tokens').select(['id', 'remain_quota']).execute();
    return new Map(rows.map(({ id, remain_quota }) => [id, remain_quota]));
  });
}
