import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import type { TestGateway } from '../support/gateway.ts';
import { noteResponse } from '../support/told-errors.ts';

export interface BookRow {
  state: string;
  reserved: number;
  charged: number | null;
  unit: string;
}

/** The ledger rows of a gateway, oldest first. */
export async function ledgerRows({ gateway }: TestGateway): Promise<BookRow[]> {
  return gateway.store.read
    .selectFrom('ledger')
    .select(['state', 'reserved', 'charged', 'unit'])
    .orderBy('opened_at')
    .execute();
}

export async function logRows({ gateway }: TestGateway) {
  return gateway.store.read.selectFrom('request_log').selectAll().orderBy('id').execute();
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

export async function remainingQuota({ gateway }: TestGateway, id: number): Promise<number> {
  const row = await gateway.store.read
    .selectFrom('tokens')
    .select('remain_quota')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return row.remain_quota;
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
  return noteResponse({ method: 'post', path }, response);
}
