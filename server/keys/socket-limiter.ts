import { Failure } from '../lib/failure.ts';
import { allowancesOf, type KeyLimits, limitsOf } from './allowances.ts';
import type { Caller } from './caller.ts';
import type { SharedSockets } from './shared-sockets.ts';
import { SocketCounter } from './socket-counter.ts';

interface SocketLimiterParts {
  /** Returns the current configuration. */
  limits: () => KeyLimits;
  /** Undefined: there is only one gateway. */
  shared?: SharedSockets | undefined;
}

/** Limits open sockets for each key. */
export class SocketLimiter {
  readonly #parts: SocketLimiterParts;
  readonly #counters: Map<number, SocketCounter>;

  constructor(parts: SocketLimiterParts) {
    this.#parts = parts;
    this.#counters = parts.shared?.counters ?? new Map<number, SocketCounter>();
  }

  /**
   * Counts an open socket in every allowance of the caller. Returns the function that releases it, or a promise when the
   * other gateways must be asked, which takes at most 1 s.
   *
   * @throws Failure 429 when an allowance is exhausted
   */
  acquire(caller: Pick<Caller, 'tokenId' | 'allowances'>): (() => void) | Promise<() => void> {
    const { shared } = this.#parts;
    const limits = new Map(
      limitsOf(caller, 'sockets', this.#parts.limits()).map(({ tokenId, max }) => [tokenId, max]),
    );
    // Unlimited allowances are counted too, because a limit may be set later.
    const all = allowancesOf(caller).map(({ tokenId }) => this.#counterOf(tokenId, limits.get(tokenId) ?? 0));
    const limited = all.filter(({ max }) => max > 0);
    const full = limited.find((counter) => shared?.isFull(counter) ?? counter.isFull);
    if (full !== undefined) {
      for (const counter of all) this.#dropUnused(counter);
      throw refusal(full);
    }
    const uncovered = shared === undefined ? [] : limited.filter((counter) => !shared.covers(counter));
    for (const counter of all) if (!uncovered.includes(counter)) counter.open += 1;
    if (shared === undefined || uncovered.length === 0) return () => this.#release(all);
    return this.#acquireShared(shared, all, uncovered);
  }

  /** Number of counters in memory. */
  get size(): number {
    return this.#counters.size;
  }

  async #acquireShared(
    shared: SharedSockets,
    all: readonly SocketCounter[],
    uncovered: readonly SocketCounter[],
  ): Promise<() => void> {
    const refused = await shared.requestAll(uncovered);
    const [full] = refused;
    if (full === undefined) return () => this.#release(all);
    this.#release(all.filter((counter) => !refused.includes(counter)));
    throw refusal(full);
  }

  #counterOf(tokenId: number, max: number): SocketCounter {
    const counter = this.#counters.get(tokenId) ?? new SocketCounter(tokenId);
    this.#counters.set(tokenId, counter);
    counter.max = max;
    return counter;
  }

  #release(all: readonly SocketCounter[]): void {
    for (const counter of all) {
      counter.open -= 1;
      this.#parts.shared?.closed(counter);
      this.#dropUnused(counter);
    }
  }

  #dropUnused({ open, tokenId }: SocketCounter): void {
    // A shared counter must still be reported.
    if (this.#parts.shared === undefined && open === 0) this.#counters.delete(tokenId);
  }
}

function refusal({ max }: SocketCounter): Failure {
  const message = `This key has ${max} sockets open, which is its limit; close one first.`;
  return new Failure(429, 'rate_limit_exceeded', message, { retryAfter: 1 });
}
