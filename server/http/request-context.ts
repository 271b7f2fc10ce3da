import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import type { Caller } from '../keys/caller.ts';
import { runInContext, type TelemetryContext } from '../telemetry/telemetry-context.ts';
import { startTrace } from '../telemetry/trace.ts';
import { logAccess } from './access-log.ts';
import type { BodyReservation } from './body-budget.ts';
import type { Gateway } from './gateway.ts';
import { startRequestMetrics } from './record-request.ts';
import type { Operation } from './routes.ts';

/** State of a request while it passes through the middleware. */
interface RequestContext extends TelemetryContext {
  /** By the monotonic clock. */
  readonly startedAt: number;
  /** The same by `performance.now()`, which is more precise, for metrics. */
  readonly began: number;
  /** Undefined before routing, and for an unknown path. */
  operation: (Operation & { id: OperationId }) | undefined;
  /** Template of the requested path. Empty before routing. */
  route: string;
  params: Readonly<Record<string, string>>;
  /** Query parameters, typed as in the contract once it is validated. A parameter that is repeated is a list. */
  query: Readonly<Record<string, unknown>>;
  /** Undefined before authentication, and for an operation without security. */
  caller: Caller | undefined;
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
  /** Memory reserved for the body. Undefined without a body or a key. */
  bodyReservation: BodyReservation | undefined;
  /** Whether `requirePlainValues` accepted the body already. */
  isBodyPlain: boolean;
}

declare global {
  // Express types are extended by merging into its global namespace.
  namespace Express {
    interface Request {
      context: RequestContext;
    }
  }
}

/**
 * `req_` and 32 hexadecimal digits: first the time, so that the index of the ledger grows at its end, then 74 random
 * bits. `at` is in epoch milliseconds.
 */
export function newRequestId(at: number): string {
  const uuid = randomUUID();
  const random = uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);
  return `req_${at.toString(16).padStart(12, '0')}${random}`;
}

/**
 * Creates the context of a request. Its id is never the client's, because the ledger is keyed by it. Logs its end with
 * `accessLog`.
 */
export function startRequest(
  { clock, timers }: Pick<Gateway, 'clock' | 'timers'>,
  accessLog?: Pick<Gateway, 'logger' | 'settings'>,
) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const disconnected = new AbortController();
    const began = performance.now();
    const recordEnd = startRequestMetrics(began);
    const { socket } = request;
    const bytesBefore = socket.bytesWritten;
    response.once('close', () => {
      if (!response.writableFinished) disconnected.abort();
      recordEnd(request.method, request.context, response);
      if (accessLog === undefined) return;
      const { context, method } = request;
      const { operation, caller, route } = context;
      const { headersSent, statusCode, writableFinished } = response;
      logAccess(accessLog, 'request completed', {
        context,
        operation: operation?.id,
        keyId: caller?.tokenId,
        method,
        route,
        status: headersSent ? statusCode : 499,
        bytes: socket.bytesWritten - bytesBefore,
        began,
        aborted: !writableFinished,
      });
    });
    // The connection was idle. Close it if the client neither sends nor reads, but not while it waits for the response.
    response.on('timeout', (socket: Socket) => {
      if (!request.complete || response.writableLength > 0) socket.destroy();
    });
    const requestId = newRequestId(clock());
    request.context = {
      requestId,
      trace: startTrace(request.headers.traceparent, requestId),
      startedAt: timers.monotonic(),
      began,
      operation: undefined,
      route: '',
      params: {},
      query: request.url.includes('?') ? request.query : {},
      caller: undefined,
      signal: disconnected.signal,
      bodyReservation: undefined,
      isBodyPlain: false,
    };
    response.setHeader('x-request-id', requestId);
    runInContext(request.context, next);
  };
}
