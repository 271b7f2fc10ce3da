import type { NextFunction, Request, Response } from 'express';
import { Failure } from '../failure.ts';

/** A key's allowance: it fills evenly over the minute, so that a burst may use what was left unused. */
interface Allowance {
  left: number;
  /** Epoch milliseconds. */
  at: number;
}

const minute = 60_000;

/** Refuses a key's requests beyond so many a minute, 0 for no limit. Counted by each gateway for itself. */
export function rateLimit(perMinute: number, clock: () => number) {
  const allowances = new Map<number, Allowance>();
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { caller } = request.call;
    if (perMinute === 0 || caller === undefined) {
      next();
      return;
    }
    const now = clock();
    const known = allowances.get(caller.tokenId) ?? { left: perMinute, at: now };
    const left = Math.min(perMinute, known.left + ((now - known.at) / minute) * perMinute);
    if (left < 1) {
      const retryAfter = Math.ceil(((1 - left) * minute) / perMinute / 1000);
      const message = `This key may send ${perMinute} requests a minute. Repeat after ${retryAfter} seconds.`;
      throw new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
    }
    allowances.set(caller.tokenId, { left: left - 1, at: now });
    next();
  };
}
