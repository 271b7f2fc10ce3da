import type { NextFunction, Request, Response } from 'express';
import { allowancesOf } from '../keys/allowances.ts';
import type { Caller } from '../keys/caller.ts';
import { Failure } from '../lib/failure.ts';
import type { Timers } from '../lib/timers.ts';
import { bodyLimits, megabyte } from './body-limits.ts';
import type { Operation } from './routes.ts';

/** Longest wait for memory that other requests of the key hold, in milliseconds. */
const defaultWaitMs = 2_000;
/** Seconds after which a client may retry. */
const retryAfter = 1;

export interface BodyBudgetOptions {
  /** Megabytes that the bodies of one key may hold. */
  maxMb: () => number;
  timers: Pick<Timers, 'alarm'>;
  waitMs?: number;
}

/** Memory that the body of one request may use. */
export interface BodyReservation {
  /** Returns what the body did not need. `bytes`: its size. */
  shrink(bytes: number): void;
  /** Returns all of it. May be called more than once. */
  release(): void;
}

interface KeyUse {
  bytes: number;
  /** Waiting requests, in the order of their arrival. */
  readonly waiting: Set<() => void>;
}

/** Bounds the bytes of request bodies that each key has in the memory of this process. */
export class BodyBudget {
  readonly #options: BodyBudgetOptions;
  readonly #uses = new Map<number, KeyUse>();

  constructor(options: BodyBudgetOptions) {
    this.#options = options;
  }

  /** Number of keys that have a body in memory, or wait to send one. */
  get size(): number {
    return this.#uses.size;
  }

  /**
   * Reserves memory for a body, and waits for a short time when the key has none left. A body that is larger than the
   * whole budget is accepted while the key has no other. Rejects with Failure 429 when the wait is over, and with the
   * reason of the signal when it aborts.
   */
  acquire(keyId: number, bytes: number, signal: AbortSignal): BodyReservation | Promise<BodyReservation> {
    const use = this.#uses.get(keyId) ?? { bytes: 0, waiting: new Set() };
    this.#uses.set(keyId, use);
    return this.#fits(use, bytes) ? this.#reserve(keyId, use, bytes) : this.#wait(keyId, use, bytes, signal);
  }

  #fits(use: KeyUse, bytes: number): boolean {
    return use.bytes === 0 || use.bytes + bytes <= this.#options.maxMb() * megabyte;
  }

  #wait(keyId: number, use: KeyUse, bytes: number, signal: AbortSignal): Promise<BodyReservation> {
    const { timers, waitMs = defaultWaitMs, maxMb } = this.#options;
    return new Promise((resolve, reject) => {
      const stop = () => {
        alarm.cancel();
        signal.removeEventListener('abort', abort);
        use.waiting.delete(tryAgain);
        this.#forgetUnused(keyId, use);
      };
      const tryAgain = () => {
        if (!this.#fits(use, bytes)) return;
        const reservation = this.#reserve(keyId, use, bytes);
        stop();
        resolve(reservation);
      };
      const abort = () => {
        stop();
        reject(signal.reason);
      };
      const alarm = timers.alarm(waitMs, () => {
        stop();
        reject(budgetExceeded(maxMb()));
      });
      signal.addEventListener('abort', abort, { once: true });
      use.waiting.add(tryAgain);
      if (signal.aborted) abort();
    });
  }

  #reserve(keyId: number, use: KeyUse, bytes: number): BodyReservation {
    let held = bytes;
    use.bytes += bytes;
    const shrink = (size: number) => {
      if (size >= held) return;
      use.bytes -= held - size;
      held = size;
      for (const tryAgain of use.waiting) tryAgain();
      this.#forgetUnused(keyId, use);
    };
    return { shrink, release: () => shrink(0) };
  }

  #forgetUnused(keyId: number, use: KeyUse): void {
    if (use.bytes === 0 && use.waiting.size === 0 && this.#uses.get(keyId) === use) this.#uses.delete(keyId);
  }
}

function budgetExceeded(maxMb: number): Failure {
  const message = `This key may have ${maxMb} MB of request bodies in progress. Retry after ${retryAfter} second.`;
  return new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
}

/** Reserves the memory of a body before it is read, and releases it when the response is closed. */
export function reserveBody(budget: BodyBudget, maxMb: () => number) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { operation, caller, signal } = request.context;
    const bytes = operation === undefined ? 0 : bytesToReserve(request, operation, maxMb());
    if (caller === undefined || bytes === 0) {
      next();
      return;
    }
    const hold = (reservation: BodyReservation) => {
      request.context.bodyReservation = reservation;
      if (signal.aborted) reservation.release();
      else response.once('close', () => reservation.release());
      next();
    };
    const reserved = budget.acquire(keyOf(caller), bytes, signal);
    if (reserved instanceof Promise) reserved.then(hold).catch(next);
    else hold(reserved);
  };
}

/** A body without a declared length counts as the largest that its route accepts, until it has been read. */
function bytesToReserve({ headers }: Request, operation: Operation, maxMb: number): number {
  if (operation.mediaTypes.request.length === 0) return 0;
  const { bytes } = bodyLimits(operation, maxMb);
  if (headers['transfer-encoding'] !== undefined) return bytes;
  const declared = Number(headers['content-length'] ?? 0);
  // A larger body is refused before it is read.
  return declared > bytes ? 0 : declared;
}

/** Keys that a key created share its budget. */
function keyOf(caller: Caller): number {
  return allowancesOf(caller).at(-1)?.tokenId ?? caller.tokenId;
}
