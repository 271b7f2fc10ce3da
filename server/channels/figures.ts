import { type FailureKind, failureKinds } from './failure-kinds.ts';

/** Number of recent responses whose latency is stored. */
const maxLatencies = 1_000;

/** Counts requests to a channel since the gateway loaded it. Times are of the monotonic clock. */
export class ChannelFigures {
  readonly since: number;
  readonly failures = Object.fromEntries(failureKinds.map((kind) => [kind, 0])) as Record<
    FailureKind,
    number
  >;
  /** Requests and sockets that were started. */
  requests = 0;
  /** Requests whose response has not ended, and open sockets. */
  inFlight = 0;
  lastFailure: { kind: FailureKind; at: number } | undefined;
  /** Milliseconds until the start of each recent response. A ring buffer, in no order. */
  readonly latencies: number[] = [];
  readonly #clock: () => number;
  #responses = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
    this.since = clock();
  }

  /** Counts a request. The caller reports when its response starts and when it ends. */
  startRequest(): { recordLatency(): void; finish(): void } {
    const startedAt = this.#clock();
    this.requests += 1;
    this.inFlight += 1;
    let isFinished = false;
    return {
      recordLatency: () => {
        this.latencies[this.#responses % maxLatencies] = this.#clock() - startedAt;
        this.#responses += 1;
      },
      finish: () => {
        if (!isFinished) this.inFlight -= 1;
        isFinished = true;
      },
    };
  }

  recordFailure(kind: FailureKind): void {
    this.failures[kind] += 1;
    this.lastFailure = { kind, at: this.#clock() };
  }
}

/** Latency that `percent` of the responses do not exceed. Undefined without responses. */
export function percentile(latencies: readonly number[], percent: number): number | undefined {
  const sorted = latencies.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
}
