import type { Timers } from '../runtime/timers.ts';
import type { LiveSocket } from './connection.ts';

/** Time for clients to answer a close before they are cut off, in milliseconds. */
const grace = 2_000;

/** The sockets that are open: how many each key has, and how they end with the gateway. */
export class OpenSockets {
  readonly #timers: Timers;
  readonly #live = new Set<LiveSocket>();
  readonly #byToken = new Map<number, number>();
  #draining = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  get size(): number {
    return this.#live.size;
  }

  ofToken(tokenId: number): number {
    return this.#byToken.get(tokenId) ?? 0;
  }

  /** Keeps count of a socket until it has ended. */
  add(tokenId: number, socket: LiveSocket): void {
    this.#live.add(socket);
    this.#byToken.set(tokenId, this.ofToken(tokenId) + 1);
    if (this.#draining) socket.drain();
    void socket.ended.then(() => {
      this.#live.delete(socket);
      const left = this.ofToken(tokenId) - 1;
      if (left > 0) this.#byToken.set(tokenId, left);
      else this.#byToken.delete(tokenId);
    });
  }

  /** Lets running work finish for up to `patience` milliseconds, then closes. Resolves when all have ended. */
  async drain(patience: number): Promise<void> {
    this.#draining = true;
    for (const socket of this.#live) socket.drain();
    await this.#allEnded(patience);
    for (const socket of this.#live) socket.shutDown();
    await this.#allEnded(grace);
    for (const socket of this.#live) socket.terminate();
    await Promise.all([...this.#live].map(({ ended }) => ended));
  }

  /** Resolves when all have ended, or after `limit` milliseconds. */
  async #allEnded(limit: number): Promise<void> {
    if (this.#live.size === 0 || limit <= 0) return;
    await new Promise<void>((resolve) => {
      const alarm = this.#timers.alarm(limit, resolve);
      void Promise.all([...this.#live].map(({ ended }) => ended)).then(() => {
        alarm.cancel();
        resolve();
      });
    });
  }
}
