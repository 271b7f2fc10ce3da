import { errorType } from './error-type.ts';
import type { Labels } from './instruments.ts';
import { upstreamDuration } from './metrics.ts';
import { currentContext } from './telemetry-context.ts';
import { writeTraceparent } from './trace.ts';

/** One request to a provider. The caller calls either `answered` or `failed`. */
export interface UpstreamCall {
  /** The `traceparent` header to send. */
  readonly traceparent?: string;
  /** Response headers were received. */
  answered(status: number): void;
  /** No response was received. */
  failed(error: unknown): void;
}

const unmeasured: UpstreamCall = { answered() {}, failed() {} };

/** Measures the response times of one channel's provider. */
export class UpstreamCalls {
  readonly #channel: Labels;
  readonly #sendsTrace: boolean;

  /** `sendsTrace`: whether the provider receives the trace context. */
  constructor(channel: string, baseUrl: URL, sendsTrace = true) {
    this.#sendsTrace = sendsTrace;
    const { hostname, port, protocol } = baseUrl;
    const defaultPort = protocol === 'https:' || protocol === 'wss:' ? 443 : 80;
    this.#channel = {
      'unigate.channel': channel,
      'server.address': hostname,
      'server.port': port === '' ? defaultPort : Number(port),
    };
  }

  /** Starts to measure a request. */
  begin(method: string): UpstreamCall {
    const outer = currentContext()?.trace;
    if (!upstreamDuration.isEnabled && outer === undefined) return unmeasured;
    const startedAt = performance.now();
    const span = outer?.child(method, this.#channel);
    const end = (outcome: number | string) => {
      const attributes = this.#attributes(method, outcome);
      upstreamDuration.record((performance.now() - startedAt) / 1e3, attributes);
      const { 'error.type': error } = attributes;
      span?.end(attributes, error?.toString());
    };
    const sent = span ?? outer;
    return {
      ...(sent !== undefined && this.#sendsTrace && { traceparent: writeTraceparent(sent.context) }),
      answered: end,
      failed: (error) => end(errorType(error)),
    };
  }

  /** `outcome`: the status or the error type. */
  #attributes(method: string, outcome: number | string): Labels {
    return {
      ...this.#channel,
      'http.request.method': method,
      ...(typeof outcome === 'number' && { 'http.response.status_code': outcome }),
      ...((typeof outcome === 'string' || outcome >= 400) && { 'error.type': String(outcome) }),
    };
  }
}
