import type { Store } from '../store/store.ts';
import type { ConcurrencyCounter } from './concurrency-counter.ts';
import { LimitSync, type LimitSyncParts } from './limit-sync.ts';

interface SharedConcurrencyParts extends LimitSyncParts {
  store: Pick<Store, 'run'>;
  /** Id of this gateway, as in its heartbeat. Sockets of a gateway without a heartbeat do not count. */
  gateway: string;
}

/** Longest time before a closed socket or call is reported, and pause before a full limit is requested again, in milliseconds. */
const reportDelayMs = 250;
/** Interval at which open ones are reported again, in case the database or the others lost them, in milliseconds. */
const repeatIntervalMs = 5_000;

/**
 * Enforces limits of open sockets and concurrent calls across gateways. The store allocates the places of a limit to
 * gateways, and a socket or call beyond this gateway's allocation waits for more. When the store is unavailable, the
 * gateway opens up to its allocation or its equal share.
 */
export class SharedConcurrency extends LimitSync<ConcurrencyCounter> {
  /** By subject. */
  readonly counters = new Map<string, ConcurrencyCounter>();
  readonly #store: Pick<Store, 'run'>;
  readonly #gateway: string;

  constructor({ store, gateway, ...parts }: SharedConcurrencyParts) {
    super(parts, repeatIntervalMs);
    this.#store = store;
    this.#gateway = gateway;
  }

  /** Whether no gateway can open one more. */
  isFull(counter: ConcurrencyCounter): boolean {
    if (this.covers(counter)) return false;
    return this.isIsolated || counter.isFull || this.timers.monotonic() < counter.fullUntil;
  }

  /** Whether one may be opened without the store. */
  covers(counter: ConcurrencyCounter): boolean {
    if (this.isIsolated) return counter.open < this.#share(counter);
    return counter.open < Math.min(counter.allocated, counter.max);
  }

  /** Reports that a socket or call has ended. */
  closed(counter: ConcurrencyCounter): void {
    counter.fullUntil = Number.NEGATIVE_INFINITY;
    if (counter.max > 0) this.schedule(counter, reportDelayMs);
  }

  #share({ allocated, max }: ConcurrencyCounter): number {
    return Math.max(allocated, Math.ceil(max / (this.gatewayCount ?? 1)));
  }

  /** A granted one counts as open. */
  protected override acquireLocally(counter: ConcurrencyCounter): boolean {
    if (counter.open >= this.#share(counter)) return false;
    counter.open += 1;
    return true;
  }

  protected override async synchronize(batch: readonly ConcurrencyCounter[]): Promise<number> {
    const claims = batch.map((counter) => {
      const { subject, max, open } = counter;
      const wanted = open + counter.pending.length;
      // The command returns the surplus to the others, so this gateway must not use it from now on.
      counter.allocated = Math.min(counter.allocated, wanted);
      return { subject, max, open, wanted };
    });
    const { places, gateways } = await this.#store.run('claimPlaces', { gateway: this.#gateway, claims });
    const results = new Map(places.map((one) => [one.subject, one.places]));
    for (const counter of batch) {
      counter.allocated = results.get(counter.subject) ?? 0;
      for (const respond of counter.pending.splice(0)) {
        const isGranted = counter.open < counter.allocated;
        if (isGranted) counter.open += 1;
        else counter.fullUntil = this.timers.monotonic() + reportDelayMs;
        respond(isGranted);
      }
      if (counter.open < counter.allocated) this.schedule(counter, reportDelayMs);
    }
    return gateways;
  }

  protected override cleanUp(): void {
    const now = this.timers.monotonic();
    for (const counter of this.counters.values()) {
      const { subject, open, allocated, max, fullUntil } = counter;
      if (open > 0 ? max > 0 : allocated > 0) this.schedule(counter, 0);
      else if (open === 0 && fullUntil < now && !this.isScheduled(counter)) this.counters.delete(subject);
    }
  }
}
