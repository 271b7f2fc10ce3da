import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../lib/failure.ts';

/** The database is unreachable, or its disk is full. Nothing was written, so the caller can retry. */
export class StoreUnavailable extends Failure {
  /** The setting that names the database. Undefined if no database is known to be the cause. */
  readonly setting: 'DATABASE_URL' | 'DATA_DIR' | undefined;

  /** `reason` is for the log. Clients do not see it. */
  constructor(reason: unknown, setting?: StoreUnavailable['setting']) {
    super(503, 'store_unavailable', 'The gateway cannot reach its records for the moment. Repeat later.', {
      retryAfter: 1,
      cause: reason,
    });
    this.setting = setting;
  }
}

/** Whether PostgreSQL canceled a statement because a lock was not released within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  return cause instanceof Error && 'code' in cause && cause.code === '55P03';
}

/** First and longest pause between two attempts, in milliseconds. */
const firstPauseMs = 50;
const maxPauseMs = 1_000;

/** Retries while the store is unavailable. Rejects with any other error, and once `signal` is aborted with the latest error. */
export async function retryWhileUnavailable<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || signal.aborted) throw error;
    }
    // An abort ends the pause, and one more attempt follows.
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** Called when the database becomes unavailable, with the cause, and when it is available again. */
export type OnAvailability = (isUnavailable: boolean, cause?: unknown) => void;

/** Tracks whether the database is available, and reports each change once. */
export class Availability {
  readonly #report: OnAvailability;
  #isUnavailable = false;

  constructor(report: OnAvailability) {
    this.#report = report;
  }

  markUnavailable(cause: unknown): void {
    if (this.#isUnavailable) return;
    this.#isUnavailable = true;
    this.#report(true, cause);
  }

  markAvailable(): void {
    if (!this.#isUnavailable) return;
    this.#isUnavailable = false;
    this.#report(false);
  }
}

/** Time limit of a health check, in milliseconds. */
export const probeLimitMs = 2_000;
/** How long a successful check is cached, in milliseconds. On SQLite a check is a write. */
const freshMs = 500;

/** Checks whether the database works. Concurrent checks share one probe. */
export class Probe {
  readonly #run: (failedBefore: boolean) => Promise<unknown>;
  #running: Promise<void> | undefined;
  #freshUntil = 0;
  #failedBefore = false;

  /** `failedBefore`: a command failed since the last successful probe. */
  constructor(run: (failedBefore: boolean) => Promise<unknown>) {
    this.#run = run;
  }

  /** Invalidates the cached result when a command fails. A successful command proves nothing, since it may have written nothing. */
  watch(result: Promise<unknown>): void {
    result.catch((error: unknown) => {
      if (error instanceof StoreUnavailable) this.invalidate();
    });
  }

  invalidate(): void {
    this.#freshUntil = 0;
    this.#failedBefore = true;
  }

  /** @throws StoreUnavailable when the probe fails or exceeds its time limit */
  async check(): Promise<void> {
    if (performance.now() < this.#freshUntil) return;
    this.#running ??= this.#run(this.#failedBefore)
      .then(
        () => {
          this.#failedBefore = false;
          this.#freshUntil = performance.now() + freshMs;
        },
        (error: unknown) => {
          throw error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
        },
      )
      .finally(() => {
        this.#running = undefined;
      });
    const timeout = Promise.withResolvers<never>();
    const reason = new Error(`no answer within ${probeLimitMs} ms`);
    const timer = setTimeout(() => timeout.reject(new StoreUnavailable(reason)), probeLimitMs);
    await Promise.race([this.#running, timeout.promise]).finally(() => clearTimeout(timer));
  }
}
