import type { SubjectLimit } from './bucket.ts';
import { ConcurrencyCounter } from './concurrency-counter.ts';
import type { SharedConcurrency } from './shared-concurrency.ts';

/** Either every counter counts one more, until `release` is called, or one of them is full. */
export type Acquired = { release: () => void } | { full: ConcurrencyCounter };

/** Counters of open sockets and concurrent calls, by subject. */
export class ConcurrencyCounters {
  /** Undefined: there is only one gateway. */
  readonly #shared: SharedConcurrency | undefined;
  readonly #counters: Map<string, ConcurrencyCounter>;

  constructor(shared?: SharedConcurrency) {
    this.#shared = shared;
    this.#counters = shared?.counters ?? new Map<string, ConcurrencyCounter>();
  }

  /**
   * Counts one more in every limit, or in none. `max` is 0 without a limit. Returns a promise when the other gateways
   * must be asked, which takes at most 1 s.
   */
  acquire(limits: readonly SubjectLimit[]): Acquired | Promise<Acquired> {
    const shared = this.#shared;
    // Subjects without a limit are counted too, because a limit may be set later.
    const all = limits.map(({ subject, max }) => this.#counterOf(subject, max));
    const limited = all.filter(({ max }) => max > 0);
    const full = limited.find((counter) => shared?.isFull(counter) ?? counter.isFull);
    if (full !== undefined) {
      for (const counter of all) this.#dropUnused(counter);
      return { full };
    }
    const uncovered = shared === undefined ? [] : limited.filter((counter) => !shared.covers(counter));
    for (const counter of all) if (!uncovered.includes(counter)) counter.open += 1;
    if (shared === undefined || uncovered.length === 0) return { release: () => this.#release(all) };
    return this.#acquireShared(shared, all, uncovered);
  }

  /** Number of counters in memory. */
  get size(): number {
    return this.#counters.size;
  }

  /** Number of open ones of a subject on this gateway. */
  openOf(subject: string): number {
    return this.#counters.get(subject)?.open ?? 0;
  }

  async #acquireShared(
    shared: SharedConcurrency,
    all: readonly ConcurrencyCounter[],
    uncovered: readonly ConcurrencyCounter[],
  ): Promise<Acquired> {
    const refused = await shared.requestAll(uncovered);
    const [full] = refused;
    if (full === undefined) return { release: () => this.#release(all) };
    this.#release(all.filter((counter) => !refused.includes(counter)));
    return { full };
  }

  #counterOf(subject: string, max: number): ConcurrencyCounter {
    const counter = this.#counters.get(subject) ?? new ConcurrencyCounter(subject);
    this.#counters.set(subject, counter);
    counter.max = max;
    return counter;
  }

  #release(all: readonly ConcurrencyCounter[]): void {
    for (const counter of all) {
      counter.open -= 1;
      this.#shared?.closed(counter);
      this.#dropUnused(counter);
    }
  }

  #dropUnused({ open, subject }: ConcurrencyCounter): void {
    // A shared counter must still be reported.
    if (this.#shared === undefined && open === 0) this.#counters.delete(subject);
  }
}
