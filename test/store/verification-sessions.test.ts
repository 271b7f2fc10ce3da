import { describe, expect, test } from 'vitest';
import { Retention } from '../../server/quota/maintenance.ts';
import type { VerificationEnd } from '../../server/store/commands/verification-sessions.ts';
import { findVerificationSession } from '../../server/store/queries/verification-sessions.ts';
import type { VerificationSessionsTable } from '../../server/store/schema.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { engines } from './engines.ts';
import { eachTestOnOneStore } from './one-store.ts';

const session: VerificationSessionsTable = {
  session_id: 'vs_1',
  user_id: 1,
  token_id: 1,
  channel: 'people',
  h5_link: 'https://verify.example/h5?token=vs_1',
  callback_url: '',
  status: 'pending',
  group_id: null,
  upstream_group_id: null,
  result_code: null,
  created_at: 1_795_000_000_000,
  updated_at: 1_795_000_000_000,
  expires_at: 1_795_001_800_000,
};

describe.each(engines)('verification sessions on %s', (engine) => {
  let store: Store;
  eachTestOnOneStore(engine, (made) => {
    store = made.store;
  });

  const find = (userId = 1) => findVerificationSession(store.read, { sessionId: 'vs_1', userId });
  const settle = (end: VerificationEnd, now = 1_795_000_060_000) =>
    store.run('finishVerificationSession', { sessionId: 'vs_1', end, now });

  test('exist for their owner only, and no id twice', async () => {
    expect(await store.run('saveVerificationSession', session)).toBe(true);
    expect(await store.run('saveVerificationSession', { ...session, user_id: 2 })).toBe(false);
    expect(await find()).toEqual(session);
    expect(await find(2)).toBeUndefined();
  });

  test.each<[VerificationEnd, Partial<VerificationSessionsTable>]>([
    [
      { status: 'verified', resultCode: 10_000, group: { id: 'group-ours', upstreamId: 'group-theirs' } },
      { group_id: 'group-ours', upstream_group_id: 'group-theirs', result_code: 10_000 },
    ],
    [{ status: 'verified', resultCode: 10_000, group: undefined }, { result_code: 10_000 }],
    [{ status: 'failed', resultCode: 7 }, { result_code: 7 }],
    [{ status: 'failed', resultCode: undefined }, {}],
    [{ status: 'expired' }, {}],
  ])('end once: %j', async (end, change) => {
    await store.run('saveVerificationSession', session);
    expect(await settle(end)).toBe(true);
    const ended = { ...session, ...change, status: end.status, updated_at: 1_795_000_060_000 };
    expect(await find()).toEqual(ended);
    expect(await settle({ status: 'verified', resultCode: 10_000, group: undefined }, 2)).toBe(false);
    expect(await settle({ status: 'expired' }, 2)).toBe(false);
    expect(await find()).toEqual(ended);
  });

  test('are deleted some time after their end, except those of verified persons', async () => {
    const times = { created_at: 1_000, updated_at: 1_000, expires_at: 5_000 };
    const rows: [string, Partial<VerificationSessionsTable>][] = [
      ['verified', { status: 'verified', group_id: 'ours', upstream_group_id: 'theirs' }],
      ['without a group', { status: 'verified' }],
      ['failed', { status: 'failed' }],
      ['just failed', { status: 'failed', updated_at: 9_000 }],
      ['expired', { status: 'expired', updated_at: 5_500 }],
      ['never asked about', {}],
      ['open', { expires_at: 9_000 }],
    ];
    for (const [session_id, change] of rows)
      await store.run('saveVerificationSession', { ...session, ...times, session_id, ...change });
    const sweep = (limit: number) => store.run('sweepVerificationSessions', { endedBefore: 6_000, limit });
    expect([await sweep(3), await sweep(3), await sweep(3)]).toEqual([3, 1, 0]);
    const left = async () => {
      const found = store.read.selectFrom('verification_sessions').select('session_id');
      return (await found.orderBy('session_id').execute()).map((row) => row.session_id);
    };
    expect(await left()).toEqual(['just failed', 'open', 'verified']);
    const timers = new ManualTimers();
    timers.now = 10_001;
    const parts = { store, logger: createLogger('silent'), clock: () => timers.now, timers };
    await new Retention({ ...parts, keepMs: 1_000 }).run();
    expect(await left()).toEqual(['verified']);
  });

  test('of several concurrent ends one is stored', async () => {
    await store.run('saveVerificationSession', session);
    const ends = await Promise.all([
      settle({ status: 'verified', resultCode: 10_000, group: { id: 'a', upstreamId: 'b' } }),
      settle({ status: 'expired' }),
      settle({ status: 'failed', resultCode: 1 }),
    ]);
    expect(ends.filter((taken) => taken)).toHaveLength(1);
  });
});
