import { beforeEach, describe, expect, test } from 'vitest';
import { type Attempt, Health } from '../../server/channels/health.ts';

let now = 0;
let health: Health;
beforeEach(() => {
  now = 1_000_000;
  health = new Health(() => now);
});

/** So many episodes, one after the other. */
function fail(times: number, poll = false): void {
  for (let episode = 0; episode < times; episode += 1) {
    now += 1_000;
    health.begin({ poll }).failed('server_error');
  }
}

const begin = (count: number): Attempt[] => Array.from({ length: count }, () => health.begin());
const rest = () => (health.restsUntil ?? now) - now;

describe('episodes', () => {
  test('a hundred requests that fail together are one', () => {
    fail(1);
    now += 1_000;
    for (const one of begin(100)) one.failed('broken_off');
    expect(health.state).toBe('healthy');
    fail(1);
    expect(health.state).toBe('resting');
  });

  test('what began before a failure was counted is part of it, however late it fails', () => {
    const slow = begin(3);
    fail(2);
    for (const one of slow) {
      now += 90_000;
      one.failed('timeout');
    }
    expect(health.state).toBe('healthy');
  });

  test('what begins within a second of it is part of it, as while a provider starts anew', () => {
    for (let request = 0; request < 100; request += 1) {
      now += 9;
      health.begin().failed('unreachable');
    }
    expect(health.state).toBe('healthy');
  });

  test('only a success that began later ends a row of them', () => {
    const early = health.begin();
    fail(2);
    early.succeeded();
    fail(1);
    expect(health.state).toBe('resting');
    health.restore();
    fail(2);
    health.begin().succeeded();
    fail(2);
    expect(health.state).toBe('healthy');
  });

  test('a success that turns out bad is a failure, once', () => {
    for (let socket = 0; socket < 5; socket += 1) {
      now += 1_000;
      const attempt = health.begin();
      attempt.succeeded();
      attempt.failed('broken_off');
      attempt.failed('broken_off');
    }
    expect(health.state).toBe('resting');
  });

  test('a silence of a minute in which nothing else succeeds is enough', () => {
    const [silent, other] = begin(2);
    now += 59_999;
    other?.failed('timeout');
    expect(health.state).toBe('healthy');
    now += 1_000;
    const later = health.begin();
    now += 60_000;
    later.failed('timeout');
    silent?.failed('timeout');
    expect([health.state, rest()]).toEqual(['resting', 5_000]);
  });

  test('a silence beside others that succeed is one failure', () => {
    const silent = health.begin();
    now += 30_000;
    health.begin().succeeded();
    now += 90_000;
    silent.failed('timeout');
    expect(health.state).toBe('healthy');
  });

  test('nothing else that is told of an attempt counts', () => {
    for (let times = 0; times < 10; times += 1) {
      now += 1_000;
      const attempt = health.begin();
      attempt.over();
      attempt.failed('server_error');
      attempt.failed('throttled', 60);
    }
    expect([health.state, health.admit()]).toEqual(['healthy', expect.anything()]);
  });

  test('polls that are answered say nothing of work that fails', () => {
    for (let episode = 0; episode < 3; episode += 1) {
      fail(1);
      health.begin({ poll: true }).succeeded();
    }
    expect(health.state).toBe('resting');
    health.begin({ poll: true }).succeeded();
    expect(health.state).toBe('resting');
  });

  test('polls that fail are reason to rest, which their success ends', () => {
    fail(3, true);
    expect(health.state).toBe('resting');
    health.begin({ poll: true }).succeeded();
    expect(health.state).toBe('healthy');
  });
});

describe('a share of failures', () => {
  /** So many requests a second succeed, and so many fail after them. */
  function mixed(seconds: number, good: number, bad: number): void {
    for (let second = 0; second < seconds; second += 1) {
      now += 1_000;
      for (const one of begin(good)) one.succeeded();
      for (const one of begin(bad)) one.failed('server_error');
    }
  }

  test('of a half, time and again, is reason to rest though others succeed', () => {
    mixed(4, 10, 12);
    expect(health.state).toBe('healthy');
    mixed(2, 10, 12);
    expect(health.state).toBe('resting');
  });

  test('of less is none', () => {
    mixed(60, 12, 10);
    expect(health.state).toBe('healthy');
  });

  test('is that of the last minute', () => {
    mixed(4, 1, 2);
    now += 60_000;
    mixed(4, 1, 2);
    expect(health.state).toBe('healthy');
  });
});

describe('a channel at rest', () => {
  test('is left out for twice as long each time, two minutes at the most', () => {
    fail(3);
    const rests = Array.from({ length: 7 }, () => {
      const ms = rest();
      expect(health.admit()).toBeUndefined();
      now += ms;
      health.admit()?.failed('timeout');
      return ms;
    });
    expect(rests).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 120_000, 120_000]);
  });

  test('is tried by one request at a time, and is back when that succeeds', () => {
    fail(3);
    now += rest();
    expect(health.state).toBe('probing');
    const probe = health.admit();
    expect([health.healthy, health.admit()]).toEqual([false, undefined]);
    probe?.succeeded();
    expect(health.state).toBe('healthy');
    for (let request = 0; request < 10; request += 1) expect(health.admit()).toBeDefined();
    fail(3);
    expect(rest()).toBe(5_000);
  });

  test('is tried by the next request when one says nothing, or takes long', () => {
    fail(3);
    now += rest();
    health.admit()?.over();
    const slow = health.admit();
    expect(slow).toBeDefined();
    now += 9_999;
    expect(health.admit()).toBeUndefined();
    now += 1;
    expect(health.admit()).toBeDefined();
    slow?.succeeded();
    expect(health.state).toBe('healthy');
  });

  test('does not rest longer for what fails while it rests', () => {
    fail(3);
    now += 2_000;
    const during = health.begin();
    for (const one of begin(5)) one.failed('server_error');
    expect(rest()).toBe(3_000);
    now += 3_000;
    during.failed('server_error');
    expect(health.state).toBe('probing');
  });

  test('is asked all the same where there is no other, eight at a time and one more each second', () => {
    fail(3);
    const insisted = Array.from({ length: 10 }, () => health.insist());
    expect(insisted.filter(Boolean)).toHaveLength(8);
    for (let second = 0; second < 3; second += 1) {
      now += 1_000;
      expect([health.insist(), health.insist()]).toEqual([expect.anything(), undefined]);
    }
    insisted[0]?.over();
    for (let left = 0; left < 4; left += 1) insisted[left]?.over();
    expect(health.insist()).toBeDefined();
  });

  test('is back as soon as one that was let through succeeds', () => {
    fail(3);
    now += 100;
    health.insist()?.succeeded();
    expect([health.state, health.admit()]).toEqual(['healthy', expect.anything()]);
  });
});

describe('throttling', () => {
  const anna = { user: 1, model: 'm' };
  const berta = { user: 2, model: 'm' };

  test('holds back the user and the model it was about, for as long as the provider asks', () => {
    health.admit(anna)?.failed('throttled', 30);
    expect([health.admit(anna), health.insist(anna)]).toEqual([undefined, undefined]);
    expect(health.admit(berta)).toBeDefined();
    expect(health.admit({ ...anna, model: 'other' })).toBeDefined();
    now += 10_500;
    expect(health.waitFor(anna)).toEqual({ throttled: true, ms: 19_500 });
    now += 19_500;
    expect(health.admit(anna)).toBeDefined();
    expect(health.state).toBe('healthy');
  });

  test('without a pause makes others come first for a second', () => {
    health.admit(anna)?.failed('throttled');
    expect(health.admit(anna)).toBeUndefined();
    for (let request = 0; request < 20; request += 1) expect(health.insist(anna)).toBeDefined();
    now += 1_000;
    expect(health.admit(anna)).toBeDefined();
  });

  test('is not forgotten for a success that began before', () => {
    const before = health.begin(anna);
    health.begin(anna).failed('throttled', 30);
    health.begin(anna).failed('throttled', 2);
    before.succeeded();
    now += 3_000;
    expect(health.insist(anna)).toBeUndefined();
  });

  test('of polls holds back no work', () => {
    health.begin({ user: 1, poll: true }).failed('throttled', 30);
    expect(health.admit({ user: 1 })).toBeDefined();
  });

  test('of thousands of users takes no more room than those who wait', () => {
    for (let user = 0; user < 5_000; user += 1) {
      now += 2_000;
      health.begin({ user, model: 'm' }).failed('throttled', 2);
    }
    expect(health.admit({ user: 4_999, model: 'm' })).toBeUndefined();
    expect(health.admit({ user: 4_998, model: 'm' })).toBeDefined();
  });
});

test('a service that says until when it is away is left alone by everyone, for that model', () => {
  health.begin({ user: 1, model: 'm' }).failed('server_error', 60);
  expect(health.admit({ user: 2, model: 'm' })).toBeUndefined();
  expect(health.admit({ user: 2, model: 'other' })).toBeDefined();
  expect(health.waitFor({ user: 2, model: 'm' })).toEqual({ throttled: false, ms: 1_000 });
  health.insist({ user: 2, model: 'm' })?.succeeded();
  expect(health.admit({ user: 3, model: 'm' })).toBeDefined();
});
