import { errorType } from './error-type.ts';
import type { Labels } from './instruments.ts';
import { upstreamDuration } from './metrics.ts';
import { writeTraceparent } from './trace.ts';
import { currentWork } from './work.ts';

/** One request to a provider. Exactly one of the two is to be called. */
export interface UpstreamCall {
  /** To send along: where the call stands in its trace, as the header `traceparent`. */
  readonly traceparent?: string;
  /** The head of an answer came. */
  answered(status: number): void;
  /** None came; `error` is why. */
  failed(error: unknown): void;
}

const nothing: UpstreamCall = { answered() {}, failed() {} };

/** Measures what one channel's provider takes to answer. */
export class UpstreamCalls {
  readonly #channel: Labels;
  readonly #told: boolean;
  readonly #known = new Map<string, Map<number | string, Labels>>();

  /** `told`: the provider is to know the trace that a call belongs to. */
  constructor(channel: string, baseUrl: URL, told = true) {
    this.#told = told;
    const { hostname, port, protocol } = baseUrl;
    const standardPort = protocol === 'https:' || protocol === 'wss:' ? 443 : 80;
    this.#channel = {
      'unigate.channel': channel,
      'server.address': hostname,
      'server.port': port === '' ? standardPort : Number(port),
    };
  }

  /** A request is being sent. */
  begin(method: string): UpstreamCall {
    const outer = currentWork()?.trace;
    if (!upstreamDuration.read && outer === undefined) return nothing;
    const began = performance.now();
    const span = outer?.child(method, this.#channel);
    const end = (outcome: number | string) => {
      const attributes = this.#attributes(method, outcome);
      upstreamDuration.record((performance.now() - began) / 1e3, attributes);
      const { 'error.type': error } = attributes;
      span?.end(attributes, error?.toString());
    };
    const known = span ?? outer;
    return {
      ...(known !== undefined && this.#told && { traceparent: writeTraceparent(known.context) }),
      answered: end,
      failed: (error) => end(errorType(error)),
    };
  }

  /** `outcome`: the status, or the kind of error. */
  #attributes(method: string, outcome: number | string): Labels {
    const byOutcome = this.#known.get(method) ?? new Map<number | string, Labels>();
    const made = byOutcome.get(outcome);
    if (made !== undefined) return made;
    const attributes: Labels = {
      ...this.#channel,
      'http.request.method': method,
      ...(typeof outcome === 'number' && { 'http.response.status_code': outcome }),
      ...((typeof outcome === 'string' || outcome >= 400) && { 'error.type': String(outcome) }),
    };
    this.#known.set(method, byOutcome.set(outcome, attributes));
    return attributes;
  }
}
