import type { Store } from '../store/store.ts';
import { LimitSync, type LimitSyncParts } from './limit-sync.ts';
import type { SocketCounter } from './socket-counter.ts';

interface SharedSocketsParts extends LimitSyncParts {
  store: Pick<Store, 'run'>;
  /** Id of this gateway, as in its heartbeat. Sockets of a gateway without a heartbeat do not count. */
  gateway: string;
}

/** Longest time before a closed socket is reported, and pause before a full limit is requested again, in milliseconds. */
const reportDelayMs = 250;
/** Interval at which open sockets are reported again, in case the database or the others lost them, in milliseconds. */
const repeatIntervalMs = 5_000;

/**
 * Enforces limits of open sockets across gateways. The store allocates sockets of a limit to gateways, and a socket
 * beyond this gateway's allocation waits for more. When the store is unavailable, the gateway opens sockets up to its
 * allocation or its equal share.
 */
export class SharedSockets extends LimitSync<SocketCounter> {
  /** By the key that owns the allowance. */
  readonly counters = new Map<number, SocketCounter>();
  readonly #store: Pick<Store, 'run'>;
  readonly #gateway: string;

  constructor({ store, gateway, ...parts }: SharedSocketsParts) {
    super(parts, repeatIntervalMs);
    this.#store = store;
    this.#gateway = gateway;
  }

  /** Whether no gateway can open one more socket. */
  isFull(counter: SocketCounter): boolean {
    if (this.covers(counter)) return false;
    return this.isIsolated || counter.isFull || this.timers.monotonic() < counter.fullUntil;
  }

  /** Whether a socket may be opened without the store. */
  covers(counter: SocketCounter): boolean {
    if (this.isIsolated) return counter.open < this.#share(counter);
    return counter.open < Math.min(counter.allocated, counter.max);
  }

  /** Reports that a socket has closed. */
  closed(counter: SocketCounter): void {
    counter.fullUntil = Number.NEGATIVE_INFINITY;
    if (counter.max > 0) this.schedule(counter, reportDelayMs);
  }

  #share({ allocated, max }: SocketCounter): number {
    return Math.max(allocated, Math.ceil(max / (this.gatewayCount ?? 1)));
  }

  /** A granted socket counts as open. */
  protected override acquireLocally(counter: SocketCounter): boolean {
    if (counter.open >= this.#share(counter)) return false;
    counter.open += 1;
    return true;
  }

  protected override async synchronize(batch: readonly SocketCounter[]): Promise<number> {
    const claims = batch.map((counter) => {
      const { tokenId, max, open } = counter;
      const wanted = open + counter.pending.length;
      // The command returns the surplus to the others, so this gateway must not use it from now on.
      counter.allocated = Math.min(counter.allocated, wanted);
      return { tokenId, max, open, wanted };
    });
    const { places, gateways } = await this.#store.run('claimSockets', { gateway: this.#gateway, claims });
    const results = new Map(places.map((one) => [one.tokenId, one.places]));
    for (const counter of batch) {
      counter.allocated = results.get(counter.tokenId) ?? 0;
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
      const { tokenId, open, allocated, max, fullUntil } = counter;
      if (open > 0 ? max > 0 : allocated > 0) this.schedule(counter, 0);
      else if (open === 0 && fullUntil < now && !this.isScheduled(counter)) this.counters.delete(tokenId);
    }
  }
}
