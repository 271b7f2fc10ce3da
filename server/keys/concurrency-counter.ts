import type { Respond, SharedCounter } from './limit-sync.ts';

/** Counts the open sockets or calls that draw on one limit. */
export class ConcurrencyCounter implements SharedCounter {
  /** The key or channel, as in the table `limit_places`. */
  readonly subject: string;
  /** Maximum over all gateways; 0: no limit. */
  max = 0;
  /** Sockets or calls open on this gateway. */
  open = 0;
  /** Places that the store has allocated to this gateway. */
  allocated = 0;
  /** Until this time by the monotonic clock, the store has none to allocate. */
  fullUntil = Number.NEGATIVE_INFINITY;
  waiting: Respond[] = [];
  pending: Respond[] = [];

  constructor(subject: string) {
    this.subject = subject;
  }

  /** Whether one more would exceed the limit, as far as this gateway knows. */
  get isFull(): boolean {
    return this.open + this.waiting.length + this.pending.length >= this.max;
  }
}
