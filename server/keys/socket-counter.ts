import type { Respond, SharedCounter } from './limit-sync.ts';

/** Counts the open sockets that draw on one allowance. */
export class SocketCounter implements SharedCounter {
  readonly tokenId: number;
  /** Maximum over all gateways; 0: no limit. */
  max = 0;
  /** Sockets open on this gateway. */
  open = 0;
  /** Sockets that the store has allocated to this gateway. */
  allocated = 0;
  /** Until this time by the monotonic clock, the store has none to allocate. */
  fullUntil = Number.NEGATIVE_INFINITY;
  waiting: Respond[] = [];
  pending: Respond[] = [];

  constructor(tokenId: number) {
    this.tokenId = tokenId;
  }

  /** Whether one more socket would exceed the limit, as far as this gateway knows. */
  get isFull(): boolean {
    return this.open + this.waiting.length + this.pending.length >= this.max;
  }
}
