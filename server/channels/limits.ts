import type { Bucket } from '../keys/bucket.ts';
import type { Acquired, ConcurrencyCounters } from '../keys/concurrency-counters.ts';
import type { RequestBuckets } from '../keys/request-buckets.ts';
import { type Failure, NoChannelFailure } from '../lib/failure.ts';
import type { ChannelLimits } from '../settings/settings.ts';
import type { ChannelSpending } from './spending.ts';

/** The counters that all channels of a gateway share. */
export interface LimiterParts {
  requests: RequestBuckets;
  calls: ConcurrencyCounters;
  spending: ChannelSpending;
}

/** The kind of a request: a task is created and polled later, any other request is a call. */
export type WorkKind = 'call' | 'task';

/** Names of the limits in the configuration. */
export const limitNames = {
  requestsPerMinute: 'requests_per_minute',
  concurrentCalls: 'concurrent_calls',
  concurrentTasks: 'concurrent_tasks',
  spendPerDay: 'spend_per_day',
} as const satisfies Record<keyof ChannelLimits, string>;

/** A limit of a channel that refused a request. */
export interface LimitRefusal {
  limit: keyof ChannelLimits;
  /** Milliseconds until the limit may accept one. */
  retryMs: number;
}

/** A place within the limits of a channel. Releasing it again has no effect. */
export class Permit {
  readonly #release: () => void;
  #state: 'held' | 'kept' | 'released' = 'held';

  constructor(release: () => void = () => {}) {
    this.#release = release;
  }

  /** Holds the place until the returned function is called. */
  keep(): () => void {
    if (this.#state === 'held') this.#state = 'kept';
    return () => this.release();
  }

  /** Releases the place unless it is kept. */
  finish(): void {
    if (this.#state === 'held') this.release();
  }

  release(): void {
    if (this.#state === 'released') return;
    this.#state = 'released';
    this.#release();
  }
}

/** Pause before a place of a running call may be free, in milliseconds. */
const busyRetryMs = 1_000;

/** Enforces the limits of one channel. It outlives a change of the channel's settings. */
export class ChannelLimiter {
  readonly #subject: string;
  readonly #name: string;
  readonly #parts: LimiterParts | undefined;
  #limits: ChannelLimits;

  /** Without `parts`, there are no limits. */
  constructor(name: string, limits: ChannelLimits = {}, parts?: LimiterParts) {
    this.#name = name;
    this.#subject = `channel ${name}`;
    this.#limits = limits;
    this.#parts = parts;
  }

  get limits(): ChannelLimits {
    return this.#limits;
  }

  apply(limits: ChannelLimits): void {
    this.#limits = limits;
  }

  /** Whether tasks of the channel can have to wait for a limit. */
  get limitsTasks(): boolean {
    const { requestsPerMinute, concurrentTasks, spendPerDay } = this.#limits;
    return [requestsPerMinute, concurrentTasks, spendPerDay].some((limit) => limit !== undefined);
  }

  /** Calls in progress on this gateway. */
  get calls(): number {
    return this.#parts?.calls.openOf(this.#subject) ?? 0;
  }

  /** Requests that the limit of a minute still accepts. Undefined without that limit. */
  get remainingRequests(): number | undefined {
    const { requestsPerMinute: max } = this.#limits;
    return max === undefined ? undefined : this.#parts?.requests.remaining({ subject: this.#subject, max });
  }

  /** Quota that the channel's work of today cost. Undefined without a limit. */
  get spentToday(): number | undefined {
    return this.#limits.spendPerDay === undefined ? undefined : this.#parts?.spending.of(this.#name);
  }

  /** The refusal of work by the limit of a day's spending. Undefined: there is quota left. */
  get spendRefusal(): LimitRefusal | undefined {
    const { spendPerDay: max } = this.#limits;
    if (max === undefined || this.#parts === undefined) return undefined;
    const { spending } = this.#parts;
    return spending.of(this.#name) < max
      ? undefined
      : { limit: 'spendPerDay', retryMs: spending.msUntilTomorrow };
  }

  /**
   * Acquires a place within all limits. Returns a promise when the other gateways must be asked, which takes at most 2 s.
   * The store counts concurrent tasks.
   */
  acquire(kind: WorkKind): Permit | LimitRefusal | Promise<Permit | LimitRefusal> {
    if (this.#parts === undefined) return new Permit();
    const { spendRefusal } = this;
    if (spendRefusal !== undefined) return spendRefusal;
    if (kind === 'task') return this.#acquireRequest(new Permit());
    // Calls without a limit are counted too, because a limit may be set later.
    const max = this.#limits.concurrentCalls ?? 0;
    const acquired = this.#parts.calls.acquire([{ subject: this.#subject, max }]);
    return acquired instanceof Promise
      ? acquired.then((result) => this.#acquireRequestOf(result))
      : this.#acquireRequestOf(acquired);
  }

  #acquireRequestOf(acquired: Acquired): ReturnType<ChannelLimiter['acquire']> {
    if ('full' in acquired) return { limit: 'concurrentCalls', retryMs: busyRetryMs };
    return this.#acquireRequest(new Permit(acquired.release));
  }

  #acquireRequest(permit: Permit): ReturnType<ChannelLimiter['acquire']> {
    const { requestsPerMinute: max } = this.#limits;
    const refused =
      max === undefined ? undefined : this.#parts?.requests.acquire([{ subject: this.#subject, max }]);
    const finish = (bucket: Bucket | undefined): Permit | LimitRefusal => {
      if (bucket === undefined) return permit;
      permit.release();
      return { limit: 'requestsPerMinute', retryMs: bucket.retryAfter * 1_000 };
    };
    return refused instanceof Promise ? refused.then(finish) : finish(refused);
  }
}

/** Builds the failure for a request that the limits of all channels refuse. */
export function limitFailure(refusals: Iterable<LimitRefusal>): Failure {
  const retryMs = Math.min(maxRetryMs, ...[...refusals].map((refusal) => refusal.retryMs));
  const retryAfter = Math.max(1, Math.ceil(retryMs / 1_000));
  const message = `The channels of this model are at their limits. Repeat after ${retryAfter} seconds.`;
  return new NoChannelFailure(429, 'rate_limit_exceeded', message, { retryAfter });
}

const maxRetryMs = 300_000;
