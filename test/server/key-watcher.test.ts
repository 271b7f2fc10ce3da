import type { KyselyPlugin } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { KeyCache } from '../../server/keys/key-cache.ts';
import { KeyWatcher } from '../../server/keys/key-watcher.ts';
import { yieldToEventLoop } from '../../server/lib/timers.ts';
import type { NewToken } from '../../server/store/commands/accounts.ts';
import type { TokenFields } from '../../server/store/commands/tokens.ts';
import type { UserFields } from '../../server/store/commands/users.ts';
import { hashKey } from '../../server/store/keys.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { disableToken, makeToken } from '../store/ledger.ts';
import { eachTestOnOneStore } from '../store/one-store.ts';
import { FakeChangeFeed } from '../support/fake-change-feed.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { yieldUntil } from '../support/yield-until.ts';

const address = '192.0.2.7';
const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };

let store: Store;
eachTestOnOneStore('sqlite', (made) => {
  store = made.store;
});

/** Counts polls of keys, and delays them or makes them fail. */
class Polls implements KyselyPlugin {
  /** Keys that each poll returned. */
  readonly found: number[] = [];
  delay: Promise<void> | undefined;
  failure: Error | undefined;

  readonly transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => node;

  readonly transformResult: KyselyPlugin['transformResult'] = async ({ result }) => {
    this.found.push(result.rows.length);
    await this.delay;
    if (this.failure !== undefined) throw this.failure;
    return result;
  };
}

function makeWatcher(feed?: FakeChangeFeed) {
  const timers = new ManualTimers();
  const polls = new Polls();
  const lines: string[] = [];
  const logger = createLogger('error', [], { write: (line) => void lines.push(line) });
  const clock = () => timers.now;
  const keys = new KeyCache({ store: { read: store.read, changeFeed: feed }, timers, clock });
  const read = store.read.withPlugin(polls);
  const watcher = new KeyWatcher({ store: { read, changeFeed: feed }, keys, timers, clock, logger });
  /** Advances the clock and waits until a due poll has ended and the next one is scheduled. */
  const pass = async (ms: number) => {
    timers.advance(ms);
    await yieldUntil(() => timers.pending === 1);
  };
  /** Creates a watched key with a spy that counts its rechecks. */
  const watched = async (fields: Partial<NewToken> = {}) => {
    const key = `sk-${crypto.randomUUID()}`;
    const token = await makeToken(store, { keyHash: hashKey(key), ...fields });
    const recheck = vi.fn<() => Promise<void>>(async () => {});
    return { key, token, recheck, stop: watcher.watch(key, recheck) };
  };
  return { timers, polls, lines, keys, watcher, pass, watched };
}

/** Waits until all work on this thread has ended. */
const settle = async () => {
  for (let turn = 0; turn < 200; turn += 1) await yieldToEventLoop();
};
const setKey = (id: number, set: TokenFields) => store.run('updateToken', { id, set, change });
const setUser = (id: number, set: UserFields) => store.run('updateUser', { id, set, change });

test('a key in use is polled twice a second and rechecked when its rights change', async () => {
  const { timers, polls, keys, pass, watched } = makeWatcher();
  const { key, token, recheck } = await watched();
  const { id, userId } = token;
  await pass(499);
  expect(polls.found).toEqual([]);
  await pass(1);
  expect(recheck).toHaveBeenCalledTimes(1);
  await pass(499);
  expect(polls.found).toHaveLength(1);
  await pass(1);
  expect(polls.found).toHaveLength(2);
  expect(recheck).toHaveBeenCalledTimes(1);

  const rights = [
    () => setKey(id, { group: 'another' }),
    () => setKey(id, { unlimitedQuota: true }),
    () => setKey(id, { modelLimits: ['voxa-v2'] }),
    () => setKey(id, { allowIps: [address] }),
    () => setUser(userId, { disabled: true }),
    () => setUser(userId, { disabled: false }),
    () => disableToken(store, token),
  ];
  for (const [times, set] of rights.entries()) {
    await keys.authenticate(key, address).catch(() => {});
    await set();
    await pass(500);
    expect(recheck).toHaveBeenCalledTimes(times + 2);
    // The cached record is stale.
    expect(keys.getCached(key, address)).toBeUndefined();
  }
  await setKey(id, { status: 1, expiredTime: timers.now / 1_000 + 2 });
  await pass(500);
  recheck.mockClear();
  await setKey(id, { name: 'another', requestsPerMinute: 5 });
  await pass(500);
  await pass(500);
  expect(recheck).not.toHaveBeenCalled();
  await pass(500);
  expect(recheck).toHaveBeenCalledTimes(1);
});

test('a key is rechecked when it loses admin access', async () => {
  const { keys, pass, watched } = makeWatcher();
  const { id: userId } = await store.run('createUser', {
    name: 'admin',
    group: 'default',
    role: 'admin',
    now: 1,
  });
  const { key, token, recheck } = await watched({ userId, unlimitedQuota: true, adminScope: true });
  await pass(500);
  expect((await keys.authenticate(key, address)).isAdmin).toBe(true);
  await setKey(token.id, { adminScope: false });
  await pass(500);
  expect(recheck).toHaveBeenCalledTimes(2);
  expect(keys.getCached(key, address)).toBeUndefined();
  expect((await keys.authenticate(key, address)).isAdmin).toBe(false);
});

test('a key is polled while anything watches it', async () => {
  const { timers, polls, watcher, pass, watched } = makeWatcher();
  const { key, recheck, stop } = await watched();
  await pass(400);
  const other = vi.fn<() => Promise<void>>(async () => {});
  const stopOther = watcher.watch(key, other);
  // A later watcher does not delay an earlier one.
  await pass(100);
  expect([recheck, other].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  stop();
  await pass(500);
  expect(polls.found).toHaveLength(2);
  const another = vi.fn<() => Promise<void>>(async () => {});
  watcher.watch(key, another)();
  // The last poll may be older than the new watcher.
  await pass(500);
  expect([recheck, other, another].map(({ mock }) => mock.calls.length)).toEqual([1, 2, 0]);
  stopOther();
  timers.advance(500);
  await settle();
  expect([timers.pending, polls.found.length]).toEqual([0, 3]);
  // A second call does nothing, even with a new watcher.
  const last = vi.fn<() => Promise<void>>(async () => {});
  watcher.watch(key, last);
  stopOther();
  await pass(500);
  expect(last).toHaveBeenCalledTimes(1);
});

test('a key that is no longer watched when its batch comes is skipped', async () => {
  const { timers, polls, lines, pass, watcher, watched } = makeWatcher();
  for (let number = 0; number < 50; number += 1) watcher.watch(`sk-first-${number}`, async () => {});
  const { recheck, stop } = await watched();
  const { promise, resolve } = Promise.withResolvers<void>();
  polls.delay = promise;
  timers.advance(500);
  await yieldUntil(() => polls.found.length === 1);
  stop();
  resolve();
  await yieldUntil(() => timers.pending === 1);
  await pass(500);
  expect([recheck.mock.calls.length, lines]).toEqual([0, []]);
});

test('keys are polled in batches of 50, unknown ones included', async () => {
  const { polls, pass, watcher, watched } = makeWatcher();
  const unknown = vi.fn<() => Promise<void>>(async () => {});
  for (let number = 0; number < 50; number += 1) watcher.watch(`sk-unknown-${number}`, unknown);
  const { token, recheck } = await watched();
  await pass(500);
  expect(polls.found).toEqual([0, 1]);
  expect(unknown).toHaveBeenCalledTimes(50);
  await disableToken(store, token);
  await pass(500);
  expect(unknown).toHaveBeenCalledTimes(50);
  expect(recheck).toHaveBeenCalledTimes(2);
});

test.each([
  ['', () => undefined],
  [', also with a change feed', () => new FakeChangeFeed()],
])('a failed recheck is repeated after the next poll%s', async (_, feed) => {
  const { lines, pass, watched } = makeWatcher(feed());
  const { recheck } = await watched();
  recheck.mockRejectedValueOnce(new Error('unavailable'));
  for (const times of [1, 2, 2]) {
    await pass(500);
    expect(recheck).toHaveBeenCalledTimes(times);
  }
  expect(lines).toHaveLength(1);
});

test('an unavailable store is logged once, until it responds again', async () => {
  const { polls, lines, pass, watched } = makeWatcher();
  const { token, recheck } = await watched();
  const unavailable = new Error('unavailable');
  for (const [failure, logged] of [
    [unavailable, 1],
    [unavailable, 1],
    [undefined, 1],
    [unavailable, 2],
  ] as const) {
    polls.failure = failure;
    await pass(500);
    expect(lines).toHaveLength(logged);
  }
  expect(recheck).toHaveBeenCalledTimes(1);
  polls.failure = undefined;
  await disableToken(store, token);
  await pass(500);
  expect(recheck).toHaveBeenCalledTimes(2);
});

describe('with a change feed', () => {
  test('a poll result is valid for 30 s, and at most until the key expires', async () => {
    const { timers, polls, pass, watched } = makeWatcher(new FakeChangeFeed());
    const { token, recheck } = await watched();
    await setKey(token.id, { expiredTime: timers.now / 1_000 + 40 });
    await pass(500);
    await pass(29_999);
    expect(polls.found).toHaveLength(1);
    await pass(501);
    expect(polls.found).toHaveLength(2);
    await pass(8_500);
    expect(polls.found).toHaveLength(2);
    expect(recheck).toHaveBeenCalledTimes(1);
    await pass(500);
    expect(polls.found).toHaveLength(3);
    expect(recheck).toHaveBeenCalledTimes(2);
    // It stays expired.
    await pass(500);
    expect(polls.found).toHaveLength(3);
  });

  test('a changed key is polled at once, and no other', async () => {
    const feed = new FakeChangeFeed();
    const { polls, pass, watcher, watched } = makeWatcher(feed);
    const [one, other] = [await watched(), await watched()];
    await pass(500);
    feed.announce({ keyIds: new Set([-1]), userIds: new Set([-1]), recalledKeyIds: new Set([one.token.id]) });
    await pass(0);
    expect(polls.found).toEqual([2]);
    await disableToken(store, one.token);
    feed.announce({ keyIds: new Set([one.token.id]) });
    await pass(0);
    expect(polls.found).toEqual([2, 1]);
    expect([one.recheck, other.recheck].map(({ mock }) => mock.calls.length)).toEqual([2, 1]);
    feed.announce({ userIds: new Set([other.token.userId]) });
    await pass(0);
    feed.announce({ overflow: true });
    await pass(0);
    expect(polls.found).toEqual([2, 1, 1, 2]);
    // The owner of an unknown key is not known.
    watcher.watch('sk-unknown', async () => {});
    await pass(500);
    feed.announce({ userIds: new Set([-1]) });
    await pass(0);
    expect(polls.found).toEqual([2, 1, 1, 2, 0, 0]);
    // The key stays unknown until a change arrives.
    await pass(500);
    expect(polls.found).toHaveLength(6);
  });

  test('a key that changes during a poll is polled again at once', async () => {
    const feed = new FakeChangeFeed();
    const { timers, polls, pass, watched } = makeWatcher(feed);
    const { token, recheck } = await watched();
    await pass(500);
    const { promise, resolve } = Promise.withResolvers<void>();
    polls.delay = promise;
    feed.announce({ overflow: true });
    timers.advance(0);
    await yieldUntil(() => polls.found.length === 2);
    await disableToken(store, token);
    feed.announce({ keyIds: new Set([token.id]) });
    // Polls never overlap.
    expect(timers.pending).toBe(0);
    resolve();
    await yieldUntil(() => timers.pending === 1);
    expect(recheck).toHaveBeenCalledTimes(1);
    await pass(0);
    expect(recheck).toHaveBeenCalledTimes(2);
    // Then the interval applies again.
    await pass(0);
    feed.epoch = undefined;
    await pass(499);
    expect(polls.found).toHaveLength(3);
    await pass(1);
    expect(polls.found).toHaveLength(4);
  });

  test('a key is polled twice a second while the feed is disconnected or after a failed poll', async () => {
    const feed = new FakeChangeFeed();
    const { polls, pass, watched } = makeWatcher(feed);
    const { token, recheck } = await watched();
    feed.epoch = undefined;
    await pass(500);
    await pass(500);
    expect(polls.found).toHaveLength(2);
    feed.epoch = 2;
    await pass(500);
    await pass(500);
    expect(polls.found).toHaveLength(3);
    feed.epoch = 3;
    polls.failure = new Error('unavailable');
    await pass(500);
    polls.failure = undefined;
    await disableToken(store, token);
    await pass(500);
    expect(polls.found).toHaveLength(5);
    expect(recheck).toHaveBeenCalledTimes(2);
  });
});
