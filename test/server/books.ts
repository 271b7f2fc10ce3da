import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import { leftOf } from '../../server/store/queries/leases.ts';
import type { TestGateway } from '../support/gateway.ts';
import { recordResponse } from '../support/recorded-errors.ts';

export interface BookRow {
  state: string;
  reserved: number;
  charged: number | null;
  unit: string;
}

type NamedBookRow = BookRow & { id: string; tokenId: number };

/** The books of a gateway's calls, oldest first: those in the ledger, those of the log, and those that it holds in memory. */
export async function booksById({ gateway }: TestGateway): Promise<NamedBookRow[]> {
  const rows: NamedBookRow[] = gateway.callQuota.reservations.map(({ requestId, tokenId, amount, unit }) => ({
    id: requestId,
    tokenId,
    state: 'open',
    reserved: amount,
    charged: null,
    unit,
  }));
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
  // By the time within their request ids.
  // One that was written down meanwhile is there twice.
  const once = [...new Map(rows.map((row) => [row.id, row])).values()];
  return once.sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** The same without the names. */
export async function ledgerRows(target: TestGateway): Promise<BookRow[]> {
  return (await booksById(target)).map(({ id: _id, tokenId: _tokenId, ...row }) => row);
}

export async function logRows({ gateway }: Pick<TestGateway, 'gateway'>) {
  return gateway.store.read.selectFrom('request_log').selectAll().orderBy('id').execute();
}

/** Gives a key a limit, or takes it away, as an admin does. */
export async function limit({ gateway }: TestGateway, { id }: { id: number }, limited = true): Promise<void> {
  const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };
  await gateway.store.run('updateToken', { id, set: { unlimitedQuota: !limited }, change });
}

/** Makes a limited key of a group and returns it. */
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

/** What a key has left that is not held. */
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

/** Asks a gateway. */
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
