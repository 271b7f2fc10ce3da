import { beforeEach, describe, expect, test } from 'vitest';
import { type Attempt, Health } from '../../server/channels/health.ts';

let now = 0;
let health: Health;
beforeEach(() => {
  now = 1_000_000;
  health = new Health(() => now);
});

/** Fails `times` attempts, each in an episode of its own. */
function fail(times: number, poll = false): void {
  for (let episode = 0; episode < times; episode += 1) {
    now += 1_000;
    health.startAttempt({ poll }).fail('server_error');
  }
}

const startAttempts = (count: number): Attempt[] =>
  Array.from({ length: count }, () => health.startAttempt());
const remainingCoolDown = () => (health.coolDownUntil ?? now) - now;

describe('episodes', () => {
  test('count a hundred requests that fail together as one', () => {
    fail(1);
    now += 1_000;
    for (const one of startAttempts(100)) one.fail('disconnected');
    expect(health.state).toBe('healthy');
    fail(1);
    expect(health.state).toBe('resting');
  });

  test('include attempts that started before the counted failure, however late they fail', () => {
    const slow = startAttempts(3);
    fail(2);
    for (const one of slow) {
      now += 90_000;
      one.fail('timeout');
    }
    expect(health.state).toBe('healthy');
  });

  test('include attempts that start within a second of the counted failure, as during a restart', () => {
    for (let request = 0; request < 100; request += 1) {
      now += 9;
      health.startAttempt().fail('unreachable');
    }
    expect(health.state).toBe('healthy');
  });

  test('are reset only by a success that started later', () => {
    const early = health.startAttempt();
    fail(2);
    early.succeed();
    fail(1);
    expect(health.state).toBe('resting');
    health.reset();
    fail(2);
    health.startAttempt().succeed();
    fail(2);
    expect(health.state).toBe('healthy');
  });

  test('count a success that fails later as one failure', () => {
    for (let socket = 0; socket < 5; socket += 1) {
      now += 1_000;
      const attempt = health.startAttempt();
      attempt.succeed();
      attempt.fail('disconnected');
      attempt.fail('disconnected');
    }
    expect(health.state).toBe('resting');
  });

  test('start a cool-down at once after a timeout of a minute without any success', () => {
    const [silent, other] = startAttempts(2);
    now += 59_999;
    other?.fail('timeout');
    expect(health.state).toBe('healthy');
    now += 1_000;
    const later = health.startAttempt();
    now += 60_000;
    later.fail('timeout');
    silent?.fail('timeout');
    expect([health.state, remainingCoolDown()]).toEqual(['resting', 5_000]);
  });

  test('count a long timeout as one failure when other attempts succeed', () => {
    const silent = health.startAttempt();
    now += 30_000;
    health.startAttempt().succeed();
    now += 90_000;
    silent.fail('timeout');
    expect(health.state).toBe('healthy');
  });

  test('ignore outcomes of an attempt that has finished', () => {
    for (let times = 0; times < 10; times += 1) {
      now += 1_000;
      const attempt = health.startAttempt();
      attempt.finish();
      attempt.fail('server_error');
      attempt.fail('throttled', 60);
    }
    expect([health.state, health.admit()]).toEqual(['healthy', expect.anything()]);
  });

  test('of calls are not reset by successful polls', () => {
    for (let episode = 0; episode < 3; episode += 1) {
      fail(1);
      health.startAttempt({ poll: true }).succeed();
    }
    expect(health.state).toBe('resting');
    health.startAttempt({ poll: true }).succeed();
    expect(health.state).toBe('resting');
  });

  test('of polls start a cool-down that a successful poll ends', () => {
    fail(3, true);
    expect(health.state).toBe('resting');
    health.startAttempt({ poll: true }).succeed();
    expect(health.state).toBe('healthy');
  });
});

describe('the failure rate', () => {
  /** Each second, some requests succeed and then some fail. */
  function mixed(seconds: number, successes: number, failures: number): void {
    for (let second = 0; second < seconds; second += 1) {
      now += 1_000;
      for (const one of startAttempts(successes)) one.succeed();
      for (const one of startAttempts(failures)) one.fail('server_error');
    }
  }

  test('starts a cool-down at one half in several episodes', () => {
    mixed(4, 10, 12);
    expect(health.state).toBe('healthy');
    mixed(2, 10, 12);
    expect(health.state).toBe('resting');
  });

  test('starts no cool-down below one half', () => {
    mixed(60, 12, 10);
    expect(health.state).toBe('healthy');
  });

  test('covers the last minute', () => {
    mixed(4, 1, 2);
    now += 60_000;
    mixed(4, 1, 2);
    expect(health.state).toBe('healthy');
  });
});

describe('a cool-down', () => {
  test('doubles each time, up to two minutes', () => {
    fail(3);
    const coolDowns = Array.from({ length: 7 }, () => {
      const ms = remainingCoolDown();
      expect(health.admit()).toBeUndefined();
      now += ms;
      health.admit()?.fail('timeout');
      return ms;
    });
    expect(coolDowns).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 120_000, 120_000]);
  });

  test('ends with one probe at a time, until one succeeds', () => {
    fail(3);
    now += remainingCoolDown();
    expect(health.state).toBe('probing');
    const probe = health.admit();
    expect([health.isHealthy, health.admit()]).toEqual([false, undefined]);
    probe?.succeed();
    expect(health.state).toBe('healthy');
    for (let request = 0; request < 10; request += 1) expect(health.admit()).toBeDefined();
    fail(3);
    expect(remainingCoolDown()).toBe(5_000);
  });

  test('allows the next probe when one has no outcome or takes long', () => {
    fail(3);
    now += remainingCoolDown();
    health.admit()?.finish();
    const slow = health.admit();
    expect(slow).toBeDefined();
    now += 9_999;
    expect(health.admit()).toBeUndefined();
    now += 1;
    expect(health.admit()).toBeDefined();
    slow?.succeed();
    expect(health.state).toBe('healthy');
  });

  test('is not extended by attempts that fail during it', () => {
    fail(3);
    now += 2_000;
    const during = health.startAttempt();
    for (const one of startAttempts(5)) one.fail('server_error');
    expect(remainingCoolDown()).toBe(3_000);
    now += 3_000;
    during.fail('server_error');
    expect(health.state).toBe('probing');
  });

  test('allows eight forced attempts at a time and one more each second', () => {
    fail(3);
    const forced = Array.from({ length: 10 }, () => health.forceAttempt());
    expect(forced.filter(Boolean)).toHaveLength(8);
    for (let second = 0; second < 3; second += 1) {
      now += 1_000;
      expect([health.forceAttempt(), health.forceAttempt()]).toEqual([expect.anything(), undefined]);
    }
    forced[0]?.finish();
    for (let index = 0; index < 4; index += 1) forced[index]?.finish();
    expect(health.forceAttempt()).toBeDefined();
  });

  test('ends when a forced attempt succeeds', () => {
    fail(3);
    now += 100;
    health.forceAttempt()?.succeed();
    expect([health.state, health.admit()]).toEqual(['healthy', expect.anything()]);
  });
});

describe('a refused key', () => {
  test('starts a cool-down at once, also in the episode of another failure', () => {
    const started: unknown[] = [];
    health = new Health(
      () => now,
      (...coolDown) => started.push(coolDown),
    );
    const early = health.startAttempt();
    fail(1);
    health.startAttempt().fail('key_refused');
    expect([health.state, health.unhealthyReason, remainingCoolDown()]).toEqual([
      'resting',
      'key_refused',
      5_000,
    ]);
    early.succeed();
    expect(health.state).toBe('resting');
    health.startAttempt().fail('key_refused');
    expect(started).toEqual([['key_refused', 5_000]]);
  });

  test.each(['key_refused', 'forbidden'] as const)(
    'keeps the cool-down while probes fail with %s',
    (kind) => {
      health.startAttempt({ user: 1 }).fail('key_refused');
      now += 5_000;
      expect([health.state, health.unhealthyReason]).toEqual(['probing', 'key_refused']);
      health.admit({ user: 1 })?.fail(kind);
      expect([health.state, health.unhealthyReason, remainingCoolDown()]).toEqual(['resting', kind, 10_000]);
      now += 10_000;
      health.admit({ user: 1 })?.succeed();
      expect([health.state, health.unhealthyReason]).toEqual(['healthy', undefined]);
    },
  );

  test('of polls starts one, too', () => {
    health.startAttempt({ user: 1, poll: true }).fail('key_refused');
    expect(health.state).toBe('resting');
  });
});

describe('a forbidden request', () => {
  const forbid = (user: number, poll = false) => {
    now += 1_000;
    health.startAttempt({ user, poll }).fail('forbidden');
  };

  test('of one user starts no cool-down, however often', () => {
    for (let times = 0; times < 50; times += 1) forbid(1);
    expect([health.state, health.figures.failures.forbidden]).toEqual(['healthy', 50]);
  });

  test('of several users in a row starts one', () => {
    for (const user of [1, 2]) forbid(user);
    expect(health.state).toBe('healthy');
    forbid(1);
    expect([health.state, health.unhealthyReason]).toEqual(['resting', 'forbidden']);
  });

  test('of several users within a second counts as one', () => {
    const attempts = [1, 2, 3, 4].map((user) => health.startAttempt({ user }));
    for (const one of attempts) one.fail('forbidden');
    expect(health.state).toBe('healthy');
  });

  test('does not count after a successful call', () => {
    for (const user of [1, 2]) forbid(user);
    health.startAttempt({ user: 3 }).succeed();
    for (const user of [1, 2]) forbid(user);
    expect(health.state).toBe('healthy');
  });

  test('does not count if it is a poll, or a probe after other failures', () => {
    for (const user of [1, 2, 3, 4]) forbid(user, true);
    expect(health.state).toBe('healthy');
    fail(3);
    now += 5_000;
    health.admit({ user: 1 })?.fail('forbidden');
    expect([health.state, health.unhealthyReason]).toEqual(['probing', 'server_error']);
  });
});

describe('throttling', () => {
  const anna = { user: 1, model: 'm' };
  const berta = { user: 2, model: 'm' };

  test('pauses requests of that user for that model for as long as the provider asks', () => {
    health.admit(anna)?.fail('throttled', 30);
    expect([health.admit(anna), health.forceAttempt(anna)]).toEqual([undefined, undefined]);
    expect(health.admit(berta)).toBeDefined();
    expect(health.admit({ ...anna, model: 'other' })).toBeDefined();
    now += 10_500;
    expect(health.retryDelay(anna)).toEqual({ throttled: true, ms: 19_500 });
    now += 19_500;
    expect(health.admit(anna)).toBeDefined();
    expect(health.state).toBe('healthy');
  });

  test('without retry-after makes other channels come first for a second', () => {
    health.admit(anna)?.fail('throttled');
    expect(health.admit(anna)).toBeUndefined();
    for (let request = 0; request < 20; request += 1) expect(health.forceAttempt(anna)).toBeDefined();
    now += 1_000;
    expect(health.admit(anna)).toBeDefined();
  });

  test('is not lifted by a success that started earlier', () => {
    const before = health.startAttempt(anna);
    health.startAttempt(anna).fail('throttled', 30);
    health.startAttempt(anna).fail('throttled', 2);
    before.succeed();
    now += 3_000;
    expect(health.forceAttempt(anna)).toBeUndefined();
  });

  test('of polls does not pause calls', () => {
    health.startAttempt({ user: 1, poll: true }).fail('throttled', 30);
    expect(health.admit({ user: 1 })).toBeDefined();
  });

  test('drops expired pauses when thousands of users were throttled', () => {
    for (let user = 0; user < 5_000; user += 1) {
      now += 2_000;
      health.startAttempt({ user, model: 'm' }).fail('throttled', 2);
    }
    expect(health.admit({ user: 4_999, model: 'm' })).toBeUndefined();
    expect(health.admit({ user: 4_998, model: 'm' })).toBeDefined();
  });
});

test('a 5xx with retry-after pauses that model for all users', () => {
  health.startAttempt({ user: 1, model: 'm' }).fail('server_error', 60);
  expect(health.admit({ user: 2, model: 'm' })).toBeUndefined();
  expect(health.admit({ user: 2, model: 'other' })).toBeDefined();
  expect(health.retryDelay({ user: 2, model: 'm' })).toEqual({ throttled: false, ms: 1_000 });
  health.forceAttempt({ user: 2, model: 'm' })?.succeed();
  expect(health.admit({ user: 3, model: 'm' })).toBeDefined();
});
