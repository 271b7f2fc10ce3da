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

/** Undefined: nothing is recorded, and what a client sent is passed on as it came. */
let tracer: Tracer | undefined;

/** Records spans with it from now on, until the function that it gives is called. One at a time. */
export function recordSpans(chosen: Tracer): () => void {
  tracer = chosen;
  return () => {
    if (tracer === chosen) tracer = undefined;
  };
}

/** Where something stands in a trace: in a span of ours that may be recorded, or behind one that a client told of. */
export class Trace {
  readonly context: SpanContext;
  readonly #span: Span | undefined;

  /** @internal by `beginTrace` and `Trace.child` */
  constructor(context: SpanContext, span?: Span) {
    this.context = context;
    this.#span = span;
  }

  get recorded(): boolean {
    return this.#span?.isRecording() ?? false;
  }

  /** A call that this one makes; undefined: it is not recorded, so this one stands for it. */
  child(name: string, attributes: Attributes): Trace | undefined {
    if (tracer === undefined || !this.recorded) return undefined;
    const parent = trace.setSpanContext(ROOT_CONTEXT, this.context);
    return fromSpan(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent));
  }

  /** `error`: what went wrong, in a word. Once. */
  end(attributes: Attributes = {}, error?: string, name?: string): void {
    const span = this.#span;
    if (span === undefined || !span.isRecording()) return;
    span.setAttributes(attributes);
    if (name !== undefined) span.updateName(name);
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end();
  }
}

/** Begins to follow a request; `header` is its `traceparent`. Undefined: there is nothing to follow. */
export function beginTrace(header: string | string[] | undefined, requestId: string): Trace | undefined {
  if (header === undefined && tracer === undefined) return undefined;
  const sent = typeof header === 'string' ? readTraceparent(header) : undefined;
  if (tracer === undefined) return sent === undefined ? undefined : new Trace(sent);
  const parent = sent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, sent);
  const attributes = { 'unigate.request.id': requestId };
  return fromSpan(tracer.startSpan('request', { kind: SpanKind.SERVER, attributes }, parent));
}

/** Begins a trace of our own for something that an earlier one, told by its `traceparent`, has made. */
export function beginLinked(name: string, from: string | null, attributes: Attributes): Trace | undefined {
  if (tracer === undefined) return undefined;
  const made = from === null ? undefined : readTraceparent(from);
  const links: Link[] = made === undefined ? [] : [{ context: made }];
  return fromSpan(tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes, links }, ROOT_CONTEXT));
}

function fromSpan(span: Span): Trace {
  return new Trace(span.spanContext(), span);
}

const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads the W3C header, of this version and of later ones; undefined: it is not valid, so it is as if there were none. */
export function readTraceparent(text: string): SpanContext | undefined {
  const [, version, traceId, spanId, flags, more] = form.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags & 1 ? '01' : '00'}`;
}
