import type { Respond, SharedCounter } from './limit-sync.ts';

/** A limit of one subject. */
export interface SubjectLimit {
  /** The key or channel, as in the table `allowances`. */
  subject: string;
  max: number;
}

const minuteMs = 60_000;

/** Token bucket of a request limit. It refills evenly over a minute and allows bursts up to the limit. */
export class Bucket implements SharedCounter {
  readonly subject: string;
  /** Requests a minute. */
  max: number;
  /** Requests left. The latest requests on other gateways are not deducted yet. */
  remaining: number;
  /** Time of the last refill, by the monotonic clock. */
  filledAt: number;
  /** Accepted requests that are not reported to the other gateways yet. */
  unreported = 0;
  waiting: Respond[] = [];
  pending: Respond[] = [];

  constructor({ subject, max }: SubjectLimit, now: number) {
    this.subject = subject;
    this.max = max;
    this.remaining = max;
    this.filledAt = now;
  }

  /** Refills the bucket up to `now` at one of `shares` equal shares of the limit. */
  fill(now: number, shares = 1): void {
    const capacity = Math.max(1, this.max / shares);
    const refill = ((now - this.filledAt) / minuteMs) * (this.max / shares);
    this.remaining = Math.min(capacity, this.remaining + refill);
    this.filledAt = now;
  }

  /** Whether one more request fits after those that await a response. */
  get hasCapacity(): boolean {
    return this.remaining - this.waiting.length - this.pending.length >= 1;
  }

  /** Seconds until the next request fits. */
  get retryAfter(): number {
    return Math.max(1, Math.ceil(((1 - this.remaining) * minuteMs) / this.max / 1000));
  }
}
