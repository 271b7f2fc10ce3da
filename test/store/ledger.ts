import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { NewToken } from '../../server/store/commands/accounts.ts';
import type { Creation } from '../../server/store/commands/changes.ts';
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
  evidence: {
    unitPrice: 1,
    groupRatio: 1,
    group: 'default',
    configRevision: 'revision',
    state: 'completed',
  },
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

/** Creates a sub-account of a user who has a wallet. Returns its id. */
export async function makeAccount(store: Store, parentId: number): Promise<number> {
  const account = await store.run('createSubAccount', { parentId, name: 'a sub-account', now: 1 });
  if (typeof account === 'string') throw new Error(account);
  return account.id;
}

/** Creates a key with another key, from whose limit it takes its own. Returns the reason if the store refuses it. */
export const createChildToken = (
  store: Store,
  maker: TokenRecord,
  token: Partial<NewToken> = {},
  more: { maxKeys?: number; change?: Creation } = {},
): Promise<TokenRecord | string> =>
  store.run('createChildToken', {
    token: {
      userId: maker.userId,
      name: 'made',
      keyHash: randomUUID(),
      keyHint: 'hint',
      now: 1,
      ...token,
      makerId: maker.id,
    },
    fromMaker: !maker.unlimitedQuota,
    ...more,
  });

/** Creates a key with another key. Throws if the store refuses it. */
export async function makeChildToken(
  store: Store,
  maker: TokenRecord,
  token?: Partial<NewToken>,
): Promise<TokenRecord> {
  const made = await createChildToken(store, maker, token);
  if (typeof made === 'string') throw new Error(made);
  return made;
}

/** Disables a key, as an admin does. */
export async function disableToken(store: Store, { id }: { id: number }): Promise<void> {
  const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };
  await store.run('updateToken', { id, set: { status: 2 }, change });
}

/** The reservations that are open, and those that were refunded because their gateway was lost. */
export function ledgerRows(store: Store) {
  return store.read.selectFrom('ledger').selectAll().orderBy('request_id').execute();
}

/** Without the day, which only PostgreSQL has. */
export async function logRows(store: Store) {
  const rows = await store.read.selectFrom('request_log').selectAll().orderBy('id').execute();
  return rows.map((row) => ({ ...row, day: undefined }));
}

/** The reservations of calls and tasks, finished ones and those in progress, in the order of their request ids. */
export async function reservationRows(store: Store) {
  const closed = (await logRows(store)).map(
    ({ request_id, token_id, reserved, quota, error_code: error }) => {
      const isRefunded = quota === 0 && error !== null;
      const [state, charged] = isRefunded ? (['refunded', null] as const) : (['settled', quota] as const);
      return { request_id, token_id, reserved, state, charged };
    },
  );
  const rows = (await ledgerRows(store)).map(({ request_id, token_id, reserved, state }) => {
    return { request_id, token_id, reserved, state, charged: null };
  });
  return [...closed, ...rows].sort((left, right) => (left.request_id < right.request_id ? -1 : 1));
}

export async function balanceOf(store: Store, { id }: { id: number }) {
  const columns = ['remain_quota', 'used_quota'] as const;
  return store.read.selectFrom('tokens').select(columns).where('id', '=', id).executeTakeFirstOrThrow();
}

/** Expects that what left a balance equals what open work reserves and finished work cost. */
export async function expectBalanced(store: Store, token: TokenRecord): Promise<void> {
  const rows = (await ledgerRows(store)).filter((row) => row.token_id === token.id && row.state === 'open');
  const open = rows.reduce((total, { reserved }) => total + reserved, 0);
  const calls = (await logRows(store)).filter((row) => row.token_id === token.id);
  const charged = calls.reduce((total, { quota }) => total + quota, 0);
  const leases = await store.read
    .selectFrom('quota_leases')
    .select('remaining')
    .where('token_id', '=', token.id)
    .execute();
  const leased = leases.reduce((total, { remaining }) => total + remaining, 0);
  const { remain_quota, used_quota } = await balanceOf(store, token);
  expect(used_quota).toBe(charged);
  const spent = token.unlimitedQuota ? 0 : open + charged;
  expect(token.remainQuota - remain_quota).toBe(spent + leased);
}
