import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/** Undefined: no spans are recorded, and the trace context of a client is forwarded unchanged. */
let tracer: Tracer | undefined;

/** Records spans with a tracer, which replaces any other. Returns a function that stops it. */
export function useTracer(newTracer: Tracer): () => void {
  tracer = newTracer;
  return () => {
    if (tracer === newTracer) tracer = undefined;
  };
}

/** A position in a trace: a span of the gateway, or the span of a client. */
export class Trace {
  readonly context: SpanContext;
  readonly #span: Span | undefined;

  /** @internal by `beginTrace` and `Trace.child` */
  constructor(context: SpanContext, span?: Span) {
    this.context = context;
    this.#span = span;
  }

  get isRecorded(): boolean {
    return this.#span?.isRecording() ?? false;
  }

  /** Starts a child span. Returns undefined if this trace is not recorded. */
  child(name: string, attributes: Attributes): Trace | undefined {
    if (tracer === undefined || !this.isRecorded) return undefined;
    const parent = trace.setSpanContext(ROOT_CONTEXT, this.context);
    return fromSpan(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent));
  }

  /** Ends the span. Later calls have no effect. `error` is an error type. */
  end(attributes: Attributes = {}, error?: string, name?: string): void {
    const span = this.#span;
    if (span === undefined || !span.isRecording()) return;
    span.setAttributes(attributes);
    if (name !== undefined) span.updateName(name);
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end();
  }
}

/** Starts the trace of a request. `header` is its `traceparent`. Returns undefined if there is nothing to record. */
export function startTrace(header: string | string[] | undefined, requestId: string): Trace | undefined {
  if (header === undefined && tracer === undefined) return undefined;
  const sent = typeof header === 'string' ? readTraceparent(header) : undefined;
  if (tracer === undefined) return sent === undefined ? undefined : new Trace(sent);
  const parent = sent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, sent);
  const attributes = { 'unigate.request.id': requestId };
  return fromSpan(tracer.startSpan('request', { kind: SpanKind.SERVER, attributes }, parent));
}

/** Starts a new trace that links to an earlier one. `linked` is the `traceparent` of that trace. */
export function startLinkedTrace(
  name: string,
  linked: string | null,
  attributes: Attributes,
): Trace | undefined {
  if (tracer === undefined) return undefined;
  const context = linked === null ? undefined : readTraceparent(linked);
  const links: Link[] = context === undefined ? [] : [{ context }];
  return fromSpan(tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes, links }, ROOT_CONTEXT));
}

function fromSpan(span: Span): Trace {
  return new Trace(span.spanContext(), span);
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
