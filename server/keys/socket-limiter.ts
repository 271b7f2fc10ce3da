import { Failure } from '../lib/failure.ts';
import { allowancesOf, type KeyLimits, limitsOf, subjectOf } from './allowances.ts';
import type { Caller } from './caller.ts';
import { type Acquired, ConcurrencyCounters } from './concurrency-counters.ts';
import type { SharedConcurrency } from './shared-concurrency.ts';

interface SocketLimiterParts {
  /** Returns the current configuration. */
  limits: () => KeyLimits;
  /** Undefined: there is only one gateway. */
  shared?: SharedConcurrency | undefined;
}

/** Limits open sockets for each key. */
export class SocketLimiter {
  readonly #limits: () => KeyLimits;
  readonly #counters: ConcurrencyCounters;

  constructor({ limits, shared }: SocketLimiterParts) {
    this.#limits = limits;
    this.#counters = new ConcurrencyCounters(shared);
  }

  /**
   * Counts an open socket in every allowance of the caller. Returns the function that releases it, or a promise when the
   * other gateways must be asked, which takes at most 1 s.
   *
   * @throws Failure 429 when an allowance is exhausted
   */
  acquire(caller: Pick<Caller, 'tokenId' | 'allowances'>): (() => void) | Promise<() => void> {
    const limits = new Map(
      limitsOf(caller, 'sockets', this.#limits()).map(({ subject, max }) => [subject, max]),
    );
    const subjects = allowancesOf(caller).map(({ tokenId }) => subjectOf(tokenId));
    const acquired = this.#counters.acquire(
      subjects.map((subject) => ({ subject, max: limits.get(subject) ?? 0 })),
    );
    return acquired instanceof Promise ? acquired.then(releaseOf) : releaseOf(acquired);
  }

  /** Number of counters in memory. */
  get size(): number {
    return this.#counters.size;
  }
}

function releaseOf(acquired: Acquired): () => void {
  if ('release' in acquired) return acquired.release;
  const message = `This key has ${acquired.full.max} sockets open, which is its limit; close one first.`;
  throw new Failure(429, 'rate_limit_exceeded', message, { retryAfter: 1 });
}
