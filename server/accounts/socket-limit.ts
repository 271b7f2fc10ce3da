import { Failure } from '../failure.ts';
import { allowancesOf, type KeyLimits, limitsOf } from './allowances.ts';
import type { Caller } from './caller.ts';

/** So many open sockets for each key. */
export class SocketLimit {
  readonly #limits: () => KeyLimits;
  /** Open ones by the key whose allowance they draw on. */
  readonly #open = new Map<number, number>();

  constructor(limits: () => KeyLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a place for a socket; the function that it gives gives it back.
   *
   * @throws Failure 429 when the key has as many as it may
   */
  take(caller: Pick<Caller, 'tokenId' | 'allowances'>): () => void {
    for (const { tokenId, max } of limitsOf(caller, 'sockets', this.#limits())) {
      if (this.#count(tokenId) < max) continue;
      const message = `This key has ${max} sockets open, which is its limit; close one first.`;
      throw new Failure(429, 'rate_limit_exceeded', message, { retryAfter: 1 });
    }
    // Also where nothing limits them now, since that may change.
    const drawnOn = allowancesOf(caller);
    for (const { tokenId } of drawnOn) this.#open.set(tokenId, this.#count(tokenId) + 1);
    return () => {
      for (const { tokenId } of drawnOn) {
        const left = this.#count(tokenId) - 1;
        if (left > 0) this.#open.set(tokenId, left);
        else this.#open.delete(tokenId);
      }
    };
  }

  #count(tokenId: number): number {
    return this.#open.get(tokenId) ?? 0;
  }
}
