import { AsyncLocalStorage } from 'node:async_hooks';
import { type Trace, writeTraceparent } from './trace.ts';

/** Identifies a request, or a step of its task, in logs and traces. */
export interface TelemetryContext {
  readonly requestId: string;
  /** Undefined without tracing. */
  readonly trace: Trace | undefined;
}

const storage = new AsyncLocalStorage<TelemetryContext>();

/** Runs a function and its asynchronous calls in a context. Listeners of external events run outside of it. */
export function runInContext<T>(context: TelemetryContext, run: () => T): T {
  return storage.run(context, run);
}

/** Runs a function outside of any context, because it serves several requests. */
export function runWithoutContext<T>(run: () => T): T {
  return storage.exit(run);
}

export function currentContext(): TelemetryContext | undefined {
  return storage.getStore();
}

/** Returns the current position in the trace as a W3C header. Null without tracing. */
export function currentTraceparent(): string | null {
  const trace = storage.getStore()?.trace;
  return trace === undefined ? null : writeTraceparent(trace.context);
}

/** Returns the fields that every log line of a context has. */
export function logFields(context = storage.getStore()): Readonly<Record<string, string>> {
  if (context === undefined) return {};
  const { requestId, trace } = context;
  if (trace === undefined) return { request_id: requestId };
  return { request_id: requestId, trace_id: trace.context.traceId, span_id: trace.context.spanId };
}
