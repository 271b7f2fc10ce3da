import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Timers } from '../../server/lib/timers.ts';
import { type Behavior, type Behaviors, requestedBehavior } from './behaviors.ts';
import { injectFault } from './faults.ts';
import type { RecentRequest, RecentRequests } from './recent-requests.ts';

const recentRequests = new WeakMap<Request, RecentRequest>();

/** Records every request for the control page. */
export function recordRequests(
  requests: RecentRequests,
  { now, timers }: { now: () => number; timers: Timers },
) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const recent = requests.add({ at: now(), method: request.method, path: request.path });
    const startedAt = timers.monotonic();
    recentRequests.set(request, recent);
    response.once('close', () => {
      if (response.headersSent) recent.status = response.statusCode;
      recent.end = response.writableFinished ? 'whole' : 'broken';
      recent.ms = timers.monotonic() - startedAt;
    });
    next();
  };
}

/** Applies the delay, status and fault that the request or the control page sets. */
export function applyBehavior(behaviors: Behaviors, timers: Timers): RequestHandler {
  return (request, response, next) => {
    const { operation } = request.context;
    if (operation === undefined) return next();
    const behavior = behaviors.next(operation.id, requestedBehavior(operation.id, request.headers));
    const delay = behaviors.latency(behavior);
    const { status, fault = 'none' } = behavior;
    Object.assign(recentRequests.get(request) ?? {}, {
      operation: operation.id,
      delay,
      ...shownFault(behavior),
    });
    const proceed = () => {
      if (!injectFault(fault, request, response)) return;
      if (status !== undefined && request.headers.prefer === undefined)
        request.headers.prefer = `code=${status}`;
      next();
    };
    if (delay === 0) return proceed();
    const alarm = timers.alarm(delay, proceed);
    response.once('close', () => alarm.cancel());
  };
}

const shownFault = ({ fault }: Behavior) => (fault === undefined || fault === 'none' ? {} : { fault });
