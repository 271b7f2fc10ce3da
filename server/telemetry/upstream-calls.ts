import type { Attributes } from '@opentelemetry/api';
import { errorType } from './error-type.ts';
import { upstreamDuration } from './metrics.ts';

/** One request to a provider. Exactly one of the two is to be called. */
export interface UpstreamCall {
  /** The head of an answer came. */
  answered(status: number): void;
  /** None came; `error` is why. */
  failed(error: unknown): void;
}

const nothing: UpstreamCall = { answered() {}, failed() {} };

/** Measures what one channel's provider takes to answer. */
export class UpstreamCalls {
  readonly #channel: Attributes;
  readonly #known = new Map<string, Map<number | string, Attributes>>();

  constructor(channel: string, baseUrl: URL) {
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
    if (!upstreamDuration.read) return nothing;
    const began = performance.now();
    const end = (outcome: number | string) =>
      upstreamDuration.record((performance.now() - began) / 1e3, this.#attributes(method, outcome));
    return { answered: end, failed: (error) => end(errorType(error)) };
  }

  /** `outcome`: the status, or the kind of error. */
  #attributes(method: string, outcome: number | string): Attributes {
    const byOutcome = this.#known.get(method) ?? new Map<number | string, Attributes>();
    const made = byOutcome.get(outcome);
    if (made !== undefined) return made;
    const attributes: Attributes = {
      ...this.#channel,
      'http.request.method': method,
      ...(typeof outcome === 'number' && { 'http.response.status_code': outcome }),
      ...((typeof outcome === 'string' || outcome >= 400) && { 'error.type': String(outcome) }),
    };
    this.#known.set(method, byOutcome.set(outcome, attributes));
    return attributes;
  }
}
