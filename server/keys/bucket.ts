import type { Limit } from './allowances.ts';
import type { Answer, Shared } from './exchange.ts';

const minute = 60_000;

/** What is left of an allowance of requests: it fills evenly over the minute, so that a burst may use what was left unused. */
export class Bucket implements Shared {
  readonly tokenId: number;
  /** Requests a minute. */
  max: number;
  /** As far as this gateway knows; of what others let pass it does not know the latest. */
  left: number;
  /** When it was filled, by the monotonic clock. */
  at: number;
  /** Requests that have passed and that the other gateways were not told of yet. */
  untold = 0;
  waiting: Answer[] = [];
  asked: Answer[] = [];

  constructor({ tokenId, max }: Limit, now: number) {
    this.tokenId = tokenId;
    this.max = max;
    this.left = max;
    this.at = now;
  }

  /** Fills it by the time that has passed; `gateways` share it, or 1 has it all. */
  fill(now: number, gateways = 1): void {
    const whole = Math.max(1, this.max / gateways);
    const more = ((now - this.at) / minute) * (this.max / gateways);
    this.left = Math.min(whole, this.left + more);
    this.at = now;
  }

  /** Whether one more request could pass after those that wait. */
  get hasOne(): boolean {
    return this.left - this.waiting.length - this.asked.length >= 1;
  }

  /** Seconds until the next request passes. */
  get retryAfter(): number {
    return Math.max(1, Math.ceil(((1 - this.left) * minute) / this.max / 1000));
  }
}
