import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import type { Caller } from '../keys/caller.ts';
import { beginTrace } from '../telemetry/trace.ts';
import { logFields, type Work, within } from '../telemetry/work.ts';
import type { BodyReservation } from './body-budget.ts';
import type { Gateway } from './gateway.ts';
import { beginRequest } from './record-request.ts';
import type { Operation } from './routes.ts';

/** What the gateway knows about a request beside what the client sent. */
export interface Call extends Work {
  /** By the monotonic clock. */
  readonly startedAt: number;
  /** The same by `performance.now()`, which is finer: for what is measured. */
  readonly began: number;
  /** Undefined until the route is known, and for a path that no operation has. */
  operation: (Operation & { id: OperationId }) | undefined;
  /** Template of the path that the operation was called at; empty until the route is known. */
  route: string;
  params: Readonly<Record<string, string>>;
  /** Query parameters, typed as in the contract once it is validated. A parameter that is repeated is a list. */
  query: Readonly<Record<string, unknown>>;
  /** Undefined until the key is checked, and on operations that need none. */
  caller: Caller | undefined;
  /** Aborted when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
  /** Memory that the body holds. Undefined where there is no body, or no key to count it for. */
  bodyReservation: BodyReservation | undefined;
  /** Whether `requirePlain` accepted the body already. */
  isBodyPlain: boolean;
}

declare global {
  // Express types are extended by merging into its global namespace.
  namespace Express {
    interface Request {
      call: Call;
    }
  }
}

/**
 * `req_` and 32 hexadecimal digits: the time first, so that the books' index grows at its end, then 74 random bits.
 * `at` is in epoch milliseconds.
 */
export function newRequestId(at: number): string {
  const uuid = randomUUID();
  const random = uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);
  return `req_${at.toString(16).padStart(12, '0')}${random}`;
}

/** Gives every request its id. Always our own, never the client's: the books are keyed by it. */
export function startCall({
  clock,
  timers,
  logger,
}: Pick<Gateway, 'clock' | 'timers'> & Partial<Pick<Gateway, 'logger'>>) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const left = new AbortController();
    const began = performance.now();
    const recordEnd = beginRequest(began);
    response.once('close', () => {
      if (!response.writableFinished) left.abort();
      recordEnd(request.method, request.call, response);
      if (logger?.isLevelEnabled('debug')) logger.debug(aboutEnd(request.call, response), 'answered');
    });
    // Nothing has come or gone for long. That ends the connection of a client that neither sends nor reads; one that
    // waits for us does so as long as our own time limits let it.
    response.on('timeout', (socket: Socket) => {
      if (!request.complete || response.writableLength > 0) socket.destroy();
    });
    const requestId = newRequestId(clock());
    request.call = {
      requestId,
      trace: beginTrace(request.headers.traceparent, requestId),
      startedAt: timers.monotonic(),
      began,
      operation: undefined,
      route: '',
      params: {},
      query: request.url.includes('?') ? request.query : {},
      caller: undefined,
      signal: left.signal,
      bodyReservation: undefined,
      isBodyPlain: false,
    };
    response.setHeader('x-request-id', requestId);
    within(request.call, next);
  };
}

function aboutEnd(call: Call, { statusCode, writableFinished }: Response): object {
  const ms = Math.round(performance.now() - call.began);
  return {
    ...logFields(call),
    operation: call.operation?.id,
    status: statusCode,
    whole: writableFinished,
    ms,
  };
}
