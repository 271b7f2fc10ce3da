import type { KyselyPlugin } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { KeyRing } from '../../server/keys/key-ring.ts';
import { KeyWatch } from '../../server/keys/key-watch.ts';
import { yieldToEventLoop } from '../../server/lib/timers.ts';
import type { NewToken } from '../../server/store/commands/accounts.ts';
import type { TokenFields } from '../../server/store/commands/tokens.ts';
import type { UserFields } from '../../server/store/commands/users.ts';
import { hashKey } from '../../server/store/keys.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { disableToken, makeToken } from '../store/books.ts';
import { eachTestOnOneStore } from '../store/one-store.ts';
import { Heard } from '../support/heard.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { until } from '../support/turns.ts';

const address = '192.0.2.7';
const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };

let store: Store;
eachTestOnOneStore('sqlite', (made) => {
  store = made.store;
});

/** Counts the looks at keys, and keeps them waiting or has them fail. */
class Looks implements KyselyPlugin {
  /** How many keys each look asked for. */
  readonly asked: number[] = [];
  held: Promise<void> | undefined;
  failure: Error | undefined;

  readonly transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => node;

  readonly transformResult: KyselyPlugin['transformResult'] = async ({ result }) => {
    this.asked.push(result.rows.length);
    await this.held;
    if (this.failure !== undefined) throw this.failure;
    return result;
  };
}

function makeWatch(hearing?: Heard) {
  const timers = new ManualTimers();
  const looks = new Looks();
  const lines: string[] = [];
  const logger = createLogger('error', [], { write: (line) => void lines.push(line) });
  const clock = () => timers.now;
  const keys = new KeyRing({ store: { read: store.read, hearing }, timers, clock });
  const read = store.read.withPlugin(looks);
  const watch = new KeyWatch({ store: { read, hearing }, keys, timers, clock, logger });
  /** Lets time pass, and a look that is due come to its end, after which the next one is planned. */
  const pass = async (ms: number) => {
    timers.advance(ms);
    await until(() => timers.pending === 1);
  };
  /** A new key that is watched, and how often what it may do is asked again. */
  const watched = async (fields: Partial<NewToken> = {}) => {
    const key = `sk-${crypto.randomUUID()}`;
    const token = await makeToken(store, { keyHash: hashKey(key), ...fields });
    const recheck = vi.fn<() => Promise<void>>(async () => {});
    return { key, token, recheck, stop: watch.watch(key, recheck) };
  };
  return { timers, looks, lines, keys, watch, pass, watched };
}

/** What happens on this thread alone has come to its end after so many turns. */
const settle = async () => {
  for (let turn = 0; turn < 200; turn += 1) await yieldToEventLoop();
};
const setKey = (id: number, set: TokenFields) => store.run('updateToken', { id, set, change });
const setUser = (id: number, set: UserFields) => store.run('updateUser', { id, set, change });

test('a key in use is looked at twice a second, and asked for again when it may do something else', async () => {
  const { timers, looks, keys, pass, watched } = makeWatch();
  const { key, token, recheck } = await watched();
  const { id, userId } = token;
  await pass(499);
  expect(looks.asked).toEqual([]);
  await pass(1);
  expect(recheck).toHaveBeenCalledTimes(1);
  await pass(499);
  expect(looks.asked).toHaveLength(1);
  await pass(1);
  expect(looks.asked).toHaveLength(2);
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
    await keys.check(key, address).catch(() => {});
    await set();
    await pass(500);
    expect(recheck).toHaveBeenCalledTimes(times + 2);
    // Not what was known of it before.
    expect(keys.recall(key, address)).toBeUndefined();
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

test('a key is looked up again when it loses admin access', async () => {
  const { keys, pass, watched } = makeWatch();
  const { id: userId } = await store.run('createUser', {
    name: 'admin',
    group: 'default',
    role: 'admin',
    now: 1,
  });
  const { key, token, recheck } = await watched({ userId, unlimitedQuota: true, adminScope: true });
  await pass(500);
  expect((await keys.check(key, address)).isAdmin).toBe(true);
  await setKey(token.id, { adminScope: false });
  await pass(500);
  expect(recheck).toHaveBeenCalledTimes(2);
  expect(keys.recall(key, address)).toBeUndefined();
  expect((await keys.check(key, address)).isAdmin).toBe(false);
});

test('a key is looked at as long as something goes on with it', async () => {
  const { timers, looks, watch, pass, watched } = makeWatch();
  const { key, recheck, stop } = await watched();
  await pass(400);
  const other = vi.fn<() => Promise<void>>(async () => {});
  const stopOther = watch.watch(key, other);
  // Who comes later has no one wait for longer.
  await pass(100);
  expect([recheck, other].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  stop();
  await pass(500);
  expect(looks.asked).toHaveLength(2);
  const again = vi.fn<() => Promise<void>>(async () => {});
  watch.watch(key, again)();
  // What is known of the key may be older than its last check.
  await pass(500);
  expect([recheck, other, again].map(({ mock }) => mock.calls.length)).toEqual([1, 2, 0]);
  stopOther();
  timers.advance(500);
  await settle();
  expect([timers.pending, looks.asked.length]).toEqual([0, 3]);
  // A second time it ends nothing, not even for who has come since.
  const last = vi.fn<() => Promise<void>>(async () => {});
  watch.watch(key, last);
  stopOther();
  await pass(500);
  expect(last).toHaveBeenCalledTimes(1);
});

test('a key that nothing goes on with any more, since other ones were looked at, is left out', async () => {
  const { timers, looks, lines, pass, watch, watched } = makeWatch();
  for (let number = 0; number < 50; number += 1) watch.watch(`sk-first-${number}`, async () => {});
  const { recheck, stop } = await watched();
  const { promise, resolve } = Promise.withResolvers<void>();
  looks.held = promise;
  timers.advance(500);
  await until(() => looks.asked.length === 1);
  stop();
  resolve();
  await until(() => timers.pending === 1);
  await pass(500);
  expect([recheck.mock.calls.length, lines]).toEqual([0, []]);
});

test('many keys are looked up so many at a time, unknown ones too', async () => {
  const { looks, pass, watch, watched } = makeWatch();
  const unknown = vi.fn<() => Promise<void>>(async () => {});
  for (let number = 0; number < 50; number += 1) watch.watch(`sk-unknown-${number}`, unknown);
  const { token, recheck } = await watched();
  await pass(500);
  expect(looks.asked).toEqual([0, 1]);
  expect(unknown).toHaveBeenCalledTimes(50);
  await disableToken(store, token);
  await pass(500);
  expect(unknown).toHaveBeenCalledTimes(50);
  expect(recheck).toHaveBeenCalledTimes(2);
});

test.each([
  ['', () => undefined],
  [', though nothing was heard of its key', () => new Heard()],
])('who could not ask again asks at the next look%s', async (_words, hearing) => {
  const { lines, pass, watched } = makeWatch(hearing());
  const { recheck } = await watched();
  recheck.mockRejectedValueOnce(new Error('away'));
  for (const times of [1, 2, 2]) {
    await pass(500);
    expect(recheck).toHaveBeenCalledTimes(times);
  }
  expect(lines).toHaveLength(1);
});

test('a store that is away is told of once, until it was there again', async () => {
  const { looks, lines, pass, watched } = makeWatch();
  const { token, recheck } = await watched();
  const away = new Error('away');
  for (const [failure, told] of [
    [away, 1],
    [away, 1],
    [undefined, 1],
    [away, 2],
  ] as const) {
    looks.failure = failure;
    await pass(500);
    expect(lines).toHaveLength(told);
  }
  expect(recheck).toHaveBeenCalledTimes(1);
  looks.failure = undefined;
  await disableToken(store, token);
  await pass(500);
  expect(recheck).toHaveBeenCalledTimes(2);
});

describe('where changes by other gateways are heard of', () => {
  test('a look is good for 30 seconds, and as long as the key lasts', async () => {
    const { timers, looks, pass, watched } = makeWatch(new Heard());
    const { token, recheck } = await watched();
    await setKey(token.id, { expiredTime: timers.now / 1_000 + 40 });
    await pass(500);
    await pass(29_999);
    expect(looks.asked).toHaveLength(1);
    await pass(501);
    expect(looks.asked).toHaveLength(2);
    await pass(8_500);
    expect(looks.asked).toHaveLength(2);
    expect(recheck).toHaveBeenCalledTimes(1);
    await pass(500);
    expect(looks.asked).toHaveLength(3);
    expect(recheck).toHaveBeenCalledTimes(2);
    // It has ended once and for all.
    await pass(500);
    expect(looks.asked).toHaveLength(3);
  });

  test('a key that has changed is looked at at once, and no other', async () => {
    const heard = new Heard();
    const { looks, pass, watch, watched } = makeWatch(heard);
    const [one, other] = [await watched(), await watched()];
    await pass(500);
    heard.tell({ tokens: new Set([-1]), users: new Set([-1]), leases: new Set([one.token.id]) });
    await pass(0);
    expect(looks.asked).toEqual([2]);
    await disableToken(store, one.token);
    heard.tell({ tokens: new Set([one.token.id]) });
    await pass(0);
    expect(looks.asked).toEqual([2, 1]);
    expect([one.recheck, other.recheck].map(({ mock }) => mock.calls.length)).toEqual([2, 1]);
    heard.tell({ users: new Set([other.token.userId]) });
    await pass(0);
    heard.tell({ flood: true });
    await pass(0);
    expect(looks.asked).toEqual([2, 1, 1, 2]);
    // Whose key an unknown one is cannot be told.
    watch.watch('sk-nobody', async () => {});
    await pass(500);
    heard.tell({ users: new Set([-1]) });
    await pass(0);
    expect(looks.asked).toEqual([2, 1, 1, 2, 0, 0]);
    // That there is none holds until something is heard.
    await pass(500);
    expect(looks.asked).toHaveLength(6);
  });

  test('a key that changes while it is looked at is looked at again at once', async () => {
    const heard = new Heard();
    const { timers, looks, pass, watched } = makeWatch(heard);
    const { token, recheck } = await watched();
    await pass(500);
    const { promise, resolve } = Promise.withResolvers<void>();
    looks.held = promise;
    heard.tell({ flood: true });
    timers.advance(0);
    await until(() => looks.asked.length === 2);
    await disableToken(store, token);
    heard.tell({ tokens: new Set([token.id]) });
    // Not beside the one that is under way.
    expect(timers.pending).toBe(0);
    resolve();
    await until(() => timers.pending === 1);
    expect(recheck).toHaveBeenCalledTimes(1);
    await pass(0);
    expect(recheck).toHaveBeenCalledTimes(2);
    // And then twice a second as before.
    await pass(0);
    heard.era = undefined;
    await pass(499);
    expect(looks.asked).toHaveLength(3);
    await pass(1);
    expect(looks.asked).toHaveLength(4);
  });

  test('a key is looked at twice a second while something may be missed, or a look has failed', async () => {
    const heard = new Heard();
    const { looks, pass, watched } = makeWatch(heard);
    const { token, recheck } = await watched();
    heard.era = undefined;
    await pass(500);
    await pass(500);
    expect(looks.asked).toHaveLength(2);
    heard.era = 2;
    await pass(500);
    await pass(500);
    expect(looks.asked).toHaveLength(3);
    heard.era = 3;
    looks.failure = new Error('away');
    await pass(500);
    looks.failure = undefined;
    await disableToken(store, token);
    await pass(500);
    expect(looks.asked).toHaveLength(5);
    expect(recheck).toHaveBeenCalledTimes(2);
  });
});
