import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../lib/failure.ts';

/**
 * The store cannot do anything for the moment: its database is away, or its disk is full. Nothing of what was asked
 * is written, so it may be asked again.
 */
export class StoreUnavailable extends Failure {
  /** `reason` is for the operator; clients do not see it. */
  constructor(reason: unknown) {
    super(503, 'store_unavailable', 'The gateway cannot reach its records for the moment. Repeat later.', {
      retryAfter: 1,
      cause: reason,
    });
  }
}

/** Between two tries, in milliseconds: the first, and the longest. */
const firstPause = 50;
const maxPause = 1_000;

/** Tries until the store takes it. Rejects with any other error, and with the last one when `over` is aborted. */
export async function retryWhileUnavailable<T>(over: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (let pause = firstPause; ; pause = Math.min(maxPause, pause * 2)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || over.aborted) throw error;
    }
    // The end of waiting is one more try.
    await sleep(pause, undefined, { signal: over }).catch(() => {});
  }
}

/** Called when the store goes away, and why, and when it is back. */
export type OnAvailability = (away: boolean, cause?: unknown) => void;

/** Knows whether the store is away, and reports each change once. */
export class Availability {
  readonly #report: OnAvailability;
  #away = false;

  constructor(report: OnAvailability) {
    this.#report = report;
  }

  lost(cause: unknown): void {
    if (this.#away) return;
    this.#away = true;
    this.#report(true, cause);
  }

  found(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#report(false);
  }
}

/** The store must answer within so many milliseconds. */
export const probeLimit = 2_000;
/** What has worked is believed to work so long, in milliseconds: many ask, and on SQLite asking is a write. */
const freshMs = 500;

/** Finds out whether the store works, however many ask at the same time. */
export class Probe {
  readonly #ask: (doubted: boolean) => Promise<unknown>;
  #asking: Promise<void> | undefined;
  #goodUntil = 0;
  #doubted = false;

  /** `doubted`: something was refused since it was last found to work. */
  constructor(ask: (doubted: boolean) => Promise<unknown>) {
    this.#ask = ask;
  }

  /** Learns from what is asked of the store otherwise: what fails, since what goes well may have written nothing. */
  watch(result: Promise<unknown>): void {
    result.catch((error: unknown) => {
      if (error instanceof StoreUnavailable) this.doubt();
    });
  }

  /** It may work no more: the next one who wants to know asks. */
  doubt(): void {
    this.#goodUntil = 0;
    this.#doubted = true;
  }

  /** @throws StoreUnavailable when it does not work, or does not say so in time. */
  async check(): Promise<void> {
    if (performance.now() < this.#goodUntil) return;
    this.#asking ??= this.#ask(this.#doubted)
      .then(
        () => {
          this.#doubted = false;
          this.#goodUntil = performance.now() + freshMs;
        },
        (error: unknown) => {
          throw error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
        },
      )
      .finally(() => {
        this.#asking = undefined;
      });
    await inTime(this.#asking);
  }
}

async function inTime(answer: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new StoreUnavailable(new Error(`no answer within ${probeLimit} ms`))),
    probeLimit,
  );
  try {
    await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
