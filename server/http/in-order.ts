import type { NextFunction, Request, Response } from 'express';

/** One step of a request's way. It answers, or goes on by `next`; what it throws, or gives to `next`, ends the way. */
export type Step = (request: Request, response: Response, next: NextFunction) => void;

/** Answers a request that cannot go on. */
export type FailedStep = (error: unknown, request: Request, response: Response, next: NextFunction) => void;

/**
 * The steps one after the other, as one handler: express looks through all that it is given anew for each request, by
 * path and method, which would cost more than most of the steps.
 */
export function inOrder(steps: readonly Step[], failed: FailedStep): Step {
  return (request, response, next) => {
    let taken = 0;
    const goOn = (error?: unknown): void => {
      if (error !== undefined) {
        failed(error, request, response, next);
        return;
      }
      const step = steps[taken];
      taken += 1;
      if (step === undefined) {
        next();
        return;
      }
      try {
        step(request, response, goOn);
      } catch (thrown) {
        failed(thrown, request, response, next);
      }
    };
    goOn();
  };
}
