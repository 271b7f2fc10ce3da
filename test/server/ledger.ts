import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import { leftOf } from '../../server/store/queries/leases.ts';
import type { TestGateway } from '../support/gateway.ts';
import { recordResponse } from '../support/recorded-errors.ts';

export interface LedgerRow {
  state: string;
  reserved: number;
  charged: number | null;
  unit: string;
}

type LedgerRowWithId = LedgerRow & { id: string; tokenId: number };

/** Calls of a gateway, oldest first: open ledger entries, request log entries and reservations in memory. */
export async function ledgerRowsWithIds({ gateway }: TestGateway): Promise<LedgerRowWithId[]> {
  const rows: LedgerRowWithId[] = gateway.callQuota.reservations.map(
    ({ requestId, tokenId, amount, unit }) => ({
      id: requestId,
      tokenId,
      state: 'open',
      reserved: amount,
      charged: null,
      unit,
    }),
  );
  const { read } = gateway.store;
  const columns = ['request_id as id', 'token_id as tokenId', 'state', 'reserved', 'unit'] as const;
  const open = await read.selectFrom('ledger').select(columns).execute();
  rows.push(...open.map((row) => ({ ...row, charged: null })));
  for (const entry of await logRows({ gateway })) {
    const { request_id: id, token_id: tokenId, reserved, quota, unit, error_code: error } = entry;
    const ended = quota === 0 && error !== null;
    const [state, charged] = ended ? ['refunded', null] : ['settled', quota];
    rows.push({ id, tokenId, reserved, unit, state, charged });
  }
  // A call that ended during the queries is present twice. The last row has its final state.
  const unique = [...new Map(rows.map((row) => [row.id, row])).values()];
  // Request ids sort by time.
  return unique.sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** {@link ledgerRowsWithIds} without the ids. */
export async function ledgerRows(target: TestGateway): Promise<LedgerRow[]> {
  return (await ledgerRowsWithIds(target)).map(({ id: _id, tokenId: _tokenId, ...row }) => row);
}

export async function logRows({ gateway }: Pick<TestGateway, 'gateway'>) {
  return gateway.store.read.selectFrom('request_log').selectAll().orderBy('id').execute();
}

/** Limits the quota of a key, or removes the limit, like the operation `updateToken`. */
export async function setKeyLimited(
  { gateway }: TestGateway,
  { id }: { id: number },
  limited = true,
): Promise<void> {
  const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };
  await gateway.store.run('updateToken', { id, set: { unlimitedQuota: !limited }, change });
}

/** Creates a key with a limited quota. */
export async function makeKey(
  { gateway }: TestGateway,
  token: { quota: number; group?: string; modelLimits?: string[]; expiredTime?: number; userId?: number },
): Promise<{ key: string; id: number; userId: number }> {
  const key = generateKey();
  const record = await gateway.store.run('createToken', {
    userId: token.userId ?? 1,
    name: 'test',
    keyHash: hashKey(key),
    keyHint: keyHint(key),
    remainQuota: token.quota,
    group: token.group ?? null,
    modelLimits: token.modelLimits ?? null,
    expiredTime: token.expiredTime ?? -1,
    now: 1_795_000_000_000,
  });
  return { key, id: record.id, userId: record.userId };
}

/** Returns the quota of a key, minus what open calls reserve. */
export async function remainingQuota({ gateway }: TestGateway, id: number): Promise<number> {
  const { left } = await gateway.store.read
    .selectFrom('tokens')
    .select(leftOf('tokens').as('left'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const held = gateway.callQuota.reservations.filter(
    ({ tokenId, unlimited }) => tokenId === id && !unlimited,
  );
  return held.reduce((rest, { amount }) => rest - amount, left);
}

/** Sends a JSON body with a key and records the response. */
export async function post(url: string, key: string, path: string, body: unknown, init: RequestInit = {}) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(init.headers as Record<string, string> | undefined),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(init.signal ? { signal: init.signal } : {}),
  });
  return recordResponse({ method: 'post', path }, response);
}
