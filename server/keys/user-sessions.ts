import { createHmac } from 'node:crypto';
import { accessDenied, Failure } from '../lib/failure.ts';
import type { Timers } from '../lib/timers.ts';
import type { SessionRecord, SessionRefusal } from '../store/commands/sessions.ts';
import type { Store } from '../store/store.ts';
import type { KeyCache } from './key-cache.ts';
import { RequestBuckets } from './request-buckets.ts';
import { verifyAssertion } from './user-assertion.ts';

interface UserSessionsParts {
  store: Pick<Store, 'run'>;
  keys: Pick<KeyCache, 'invalidate'>;
  /** Epoch milliseconds. */
  clock: () => number;
  timers: Pick<Timers, 'monotonic'>;
  /** The secret that the gateway shares with the proxy. */
  assertionSecret: string;
  /** The secret of the store for session keys. */
  storeSecret: string;
}

/** Exchanges of a user or member on one gateway, a minute. A client needs one in hours. */
const maxPerMinute = 60;

const refusals: Readonly<Record<SessionRefusal, string>> = {
  no_user: 'sub: there is no user with this name.',
  several_users: 'sub: several users have this name; give the user a unique one.',
  user_disabled: 'sub: the user is disabled.',
  no_member: 'member: the user has no member with this name.',
  several_members: 'member: several members of the user have this name; give the member a unique one.',
  session_disabled: 'sub: the operator has disabled the session key of this user or member.',
};

/** Exchanges user assertions for session keys. */
export class UserSessions {
  readonly #parts: UserSessionsParts;
  readonly #assertionKey: Uint8Array;
  /** Derived from both secrets: neither a copy of the database nor the proxy alone can derive session keys. */
  readonly #keySecret: string;
  readonly #buckets: RequestBuckets;

  constructor(parts: UserSessionsParts) {
    const { assertionSecret, storeSecret, timers } = parts;
    this.#parts = parts;
    this.#assertionKey = new TextEncoder().encode(assertionSecret);
    this.#keySecret = createHmac('sha256', storeSecret).update(this.#assertionKey).digest('base64url');
    this.#buckets = new RequestBuckets({ timers });
  }

  /**
   * Verifies an assertion and returns the session key of its user or member.
   *
   * @throws Failure 401 for an invalid assertion, 403 for a user without a session, 429 after too many requests
   */
  async open(assertion: string | undefined): Promise<SessionRecord> {
    const { store, keys, clock } = this.#parts;
    const { userName, memberName } = await verifyAssertion(assertion, this.#assertionKey, clock());
    this.#limitRate(JSON.stringify([userName, memberName]));
    const order = { userName, memberName, secret: this.#keySecret, now: clock() };
    const session = await store.run('openSession', order);
    if (typeof session === 'string') throw accessDenied(refusals[session]);
    if (session.isNew) keys.invalidate({ tokenId: session.tokenId });
    return session;
  }

  #limitRate(subject: string): void {
    const refused = this.#buckets.acquire([{ subject, max: maxPerMinute }]);
    // Buckets that no other gateway shares respond at once.
    if (refused === undefined || refused instanceof Promise) return;
    const message = `A user may request ${maxPerMinute} sessions a minute. Repeat after ${refused.retryAfter} seconds.`;
    throw new Failure(429, 'rate_limit_exceeded', message, { retryAfter: refused.retryAfter });
  }
}
