import { AsyncLocalStorage } from 'node:async_hooks';
import { type Trace, writeTraceparent } from './trace.ts';

/** A request, or a step of a task that a request made: what its lines in the log and its spans are known by. */
export interface Work {
  readonly requestId: string;
  /** Undefined where nobody follows it. */
  readonly trace: Trace | undefined;
}

const running = new AsyncLocalStorage<Work>();

/** Runs something as part of a work, with all that it awaits. Listeners of events that come from outside are not. */
export function within<T>(work: Work, run: () => T): T {
  return running.run(work, run);
}

/** Runs something that is done for several works at once, and is part of none. */
export function forAll<T>(run: () => T): T {
  return running.exit(run);
}

/** The work that this is part of, if it is known. */
export function currentWork(): Work | undefined {
  return running.getStore();
}

/** Where this stands in its trace, as the W3C header; null: nobody follows it. */
export function currentTraceparent(): string | null {
  const trace = running.getStore()?.trace;
  return trace === undefined ? null : writeTraceparent(trace.context);
}

/** What every line of a work has in the log. */
export function logFields(work = running.getStore()): Readonly<Record<string, string>> {
  if (work === undefined) return {};
  const { requestId, trace } = work;
  if (trace === undefined) return { request_id: requestId };
  return { request_id: requestId, trace_id: trace.context.traceId, span_id: trace.context.spanId };
}
