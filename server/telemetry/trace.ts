import type * as OpenTelemetry from '@opentelemetry/api';
import type { Attributes, Context, Link, Span, SpanContext, Tracer } from '@opentelemetry/api';

/** The part of `@opentelemetry/api` that records spans. A gateway without traces does not load its 51 files. */
type TraceApi = Pick<typeof OpenTelemetry, 'ROOT_CONTEXT' | 'SpanKind' | 'SpanStatusCode' | 'trace'>;

interface Recorder {
  tracer: Tracer;
  api: TraceApi;
}

/** Undefined: no spans are recorded, and the trace context of a client is forwarded unchanged. */
let recorder: Recorder | undefined;

/** Records spans with a tracer, which replaces any other. Returns a function that stops it. */
export function useTracer(tracer: Tracer, api: TraceApi): () => void {
  const used = { tracer, api };
  recorder = used;
  return () => {
    if (recorder === used) recorder = undefined;
  };
}

/** A position in a trace: a span of the gateway, or the span of a client. */
export class Trace {
  readonly context: SpanContext;
  readonly #span: Span | undefined;
  readonly #api: TraceApi | undefined;

  /** @internal by `beginTrace` and `Trace.child` */
  constructor(context: SpanContext, span?: Span, api?: TraceApi) {
    this.context = context;
    this.#span = span;
    this.#api = api;
  }

  get isRecorded(): boolean {
    return this.#span?.isRecording() ?? false;
  }

  /** Starts a child span. Returns undefined if this trace is not recorded. */
  child(name: string, attributes: Attributes): Trace | undefined {
    if (recorder === undefined || !this.isRecorded) return undefined;
    const { tracer, api } = recorder;
    const options = { kind: api.SpanKind.CLIENT, attributes };
    return fromSpan(tracer.startSpan(name, options, contextOf(this.context, api)), api);
  }

  /** Ends the span. Later calls have no effect. `error` is an error type. */
  end(attributes: Attributes = {}, error?: string, name?: string): void {
    const span = this.#span;
    const api = this.#api;
    if (span === undefined || api === undefined || !span.isRecording()) return;
    span.setAttributes(attributes);
    if (name !== undefined) span.updateName(name);
    if (error !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: error });
    span.end();
  }
}

/** Starts the trace of a request. `header` is its `traceparent`. Returns undefined if there is nothing to record. */
export function startTrace(header: string | string[] | undefined, requestId: string): Trace | undefined {
  if (header === undefined && recorder === undefined) return undefined;
  const sent = typeof header === 'string' ? readTraceparent(header) : undefined;
  if (recorder === undefined) return sent === undefined ? undefined : new Trace(sent);
  const { tracer, api } = recorder;
  const options = { kind: api.SpanKind.SERVER, attributes: { 'unigate.request.id': requestId } };
  return fromSpan(tracer.startSpan('request', options, contextOf(sent, api)), api);
}

/** Starts a new trace that links to an earlier one. `linked` is the `traceparent` of that trace. */
export function startLinkedTrace(
  name: string,
  linked: string | null,
  attributes: Attributes,
): Trace | undefined {
  if (recorder === undefined) return undefined;
  const { tracer, api } = recorder;
  const context = linked === null ? undefined : readTraceparent(linked);
  const links: Link[] = context === undefined ? [] : [{ context }];
  const options = { kind: api.SpanKind.INTERNAL, attributes, links };
  return fromSpan(tracer.startSpan(name, options, api.ROOT_CONTEXT), api);
}

function fromSpan(span: Span, api: TraceApi): Trace {
  return new Trace(span.spanContext(), span, api);
}

/** Returns the context of a span whose parent is `parent`, if there is one. */
function contextOf(parent: SpanContext | undefined, { ROOT_CONTEXT, trace }: TraceApi): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

const traceparent =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads the W3C `traceparent` header of version 00 or later. Returns undefined if it is invalid. */
export function readTraceparent(text: string): SpanContext | undefined {
  const [, version, traceId, spanId, flags, more] = traceparent.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags & 1 ? '01' : '00'}`;
}
