import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { NewToken } from '../../server/store/commands/accounts.ts';
import type { LogEntry } from '../../server/store/commands/log-entries.ts';
import { hashKey } from '../../server/store/keys.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';

export const logEntry: LogEntry = {
  operation: 'createSpeech',
  channel: 'sandbox',
  status: 200,
  units: 9,
  durationMs: 120,
};

/** A token with a user and a key of its own. */
export async function makeToken(store: Store, token: Partial<NewToken> = {}): Promise<TokenRecord> {
  const user = await store.run('createUser', { name: 'someone', group: 'default', now: 1 });
  const keyHash = hashKey(randomUUID());
  return store.run('createToken', {
    userId: user.id,
    name: 'a key',
    keyHash,
    keyHint: 'sk-***abcd',
    now: 1,
    ...token,
  });
}

/** Disables a key, as an admin does. */
export async function disableToken(store: Store, { id }: { id: number }): Promise<void> {
  const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };
  await store.run('updateToken', { id, set: { status: 2 }, change });
}

/** The reservations that are open, and those that were given back because their gateway was thought gone. */
export function ledgerRows(store: Store) {
  return store.read.selectFrom('ledger').selectAll().orderBy('request_id').execute();
}

/** Without the day, which only PostgreSQL has. */
export async function logRows(store: Store) {
  const rows = await store.read.selectFrom('request_log').selectAll().orderBy('id').execute();
  return rows.map((row) => ({ ...row, day: undefined }));
}

/** What became of calls and tasks, by their request: those of the log, and those that the ledger still has. */
export async function bookRows(store: Store) {
  const closed = (await logRows(store)).flatMap(({ held, quota, error_code: error, ...entry }) => {
    if (held === null) return [];
    const ended = quota === 0 && error !== null;
    const [state, charged] = ended ? (['refunded', null] as const) : (['settled', quota] as const);
    return { request_id: entry.request_id, token_id: entry.token_id, reserved: held, state, charged };
  });
  const rows = (await ledgerRows(store)).map(({ request_id, token_id, reserved, state, charged }) => {
    return { request_id, token_id, reserved, state, charged };
  });
  return [...closed, ...rows].sort((left, right) => (left.request_id < right.request_id ? -1 : 1));
}

export async function balanceOf(store: Store, { id }: { id: number }) {
  const columns = ['remain_quota', 'used_quota'] as const;
  return store.read.selectFrom('tokens').select(columns).where('id', '=', id).executeTakeFirstOrThrow();
}

/** What left a balance is what is held for open work plus what closed work cost: nothing lost, nothing doubled. */
export async function expectBalanced(store: Store, token: TokenRecord): Promise<void> {
  const rows = (await ledgerRows(store)).filter((row) => row.token_id === token.id);
  const sum = (state: string, column: 'reserved' | 'charged') =>
    rows.filter((row) => row.state === state).reduce((total, row) => total + Number(row[column]), 0);
  const booked = (await logRows(store)).filter((row) => row.token_id === token.id && row.held !== null);
  const calls = booked.reduce((total, { quota }) => total + quota, 0);
  const leases = await store.read
    .selectFrom('quota_leases')
    .select('remaining')
    .where('token_id', '=', token.id)
    .execute();
  const leased = leases.reduce((total, { remaining }) => total + remaining, 0);
  const { remain_quota, used_quota } = await balanceOf(store, token);
  expect(used_quota).toBe(sum('settled', 'charged') + calls);
  const spent = token.unlimitedQuota ? 0 : sum('open', 'reserved') + sum('settled', 'charged') + calls;
  expect(token.remainQuota - remain_quota).toBe(spent + leased);
}
