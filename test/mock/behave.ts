import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Timers } from '../../server/lib/timers.ts';
import { type Behaviour, type Behaviours, wishesOf } from './behaviours.ts';
import { breakAnswer } from './faults.ts';
import type { RecentRequest, RecentRequests } from './recent-requests.ts';

const noted = new WeakMap<Request, RecentRequest>();

/** Keeps every request in mind for the control page. */
export function noteRequests(
  requests: RecentRequests,
  { now, timers }: { now: () => number; timers: Timers },
) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const note = requests.note({ at: now(), method: request.method, path: request.path });
    const began = timers.monotonic();
    noted.set(request, note);
    response.once('close', () => {
      if (response.headersSent) note.status = response.statusCode;
      note.end = response.writableFinished ? 'whole' : 'broken';
      note.ms = timers.monotonic() - began;
    });
    next();
  };
}

/** Waits before the answer and breaks it, as the request or the control page wants it. */
export function behave(behaviours: Behaviours, timers: Timers): RequestHandler {
  return (request, response, next) => {
    const { operation } = request.context;
    if (operation === undefined) return next();
    const behaviour = behaviours.next(operation.id, wishesOf(operation.id, request.headers));
    const delay = behaviours.latency(behaviour);
    const { status, fault = 'none' } = behaviour;
    Object.assign(noted.get(request) ?? {}, { operation: operation.id, delay, ...shown(behaviour) });
    const go = () => {
      if (!breakAnswer(fault, request, response)) return;
      if (status !== undefined && request.headers.prefer === undefined)
        request.headers.prefer = `code=${status}`;
      next();
    };
    if (delay === 0) return go();
    const alarm = timers.alarm(delay, go);
    response.once('close', () => alarm.cancel());
  };
}

const shown = ({ fault }: Behaviour) => (fault === undefined || fault === 'none' ? {} : { fault });
