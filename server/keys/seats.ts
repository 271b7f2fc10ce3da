import type { Answer, Shared } from './exchange.ts';

/** The sockets that draw on one allowance. */
export class Seats implements Shared {
  readonly tokenId: number;
  /** All that may be open, on all gateways; 0: no limit. */
  max = 0;
  /** Open here. */
  open = 0;
  /** So many of those that may be open are this gateway's, as the others know it. */
  places = 0;
  /** Until then there is none for this gateway, by the monotonic clock. */
  fullUntil = Number.NEGATIVE_INFINITY;
  waiting: Answer[] = [];
  asked: Answer[] = [];

  constructor(tokenId: number) {
    this.tokenId = tokenId;
  }

  /** Whether one more socket would be too many, as far as is known here. */
  get full(): boolean {
    return this.open + this.waiting.length + this.asked.length >= this.max;
  }
}
