/**
 * How requests to a channel fail. The first five speak against the channel; throttling, a refused key and waiting in vain
 * for a free connection do not.
 */
export const failureKinds = [
  'unreachable',
  'timeout',
  'broken_off',
  'server_error',
  'bad_answer',
  'throttled',
  'key_refused',
  'busy',
] as const;
export type FailureKind = (typeof failureKinds)[number];

/** Latencies are those of the last answers, so many. */
const kept = 1_000;

/** What has become of the requests to a channel since the gateway knows it. Times are of the monotonic clock. */
export class ChannelFigures {
  readonly since: number;
  readonly failures = Object.fromEntries(failureKinds.map((kind) => [kind, 0])) as Record<
    FailureKind,
    number
  >;
  readonly #clock: () => number;
  #requests = 0;
  #inFlight = 0;
  #lastFailure: { kind: FailureKind; at: number } | undefined;
  /** In milliseconds, the oldest one overwritten next. */
  readonly #latencies: number[] = [];
  #answers = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
    this.since = clock();
  }

  /** Requests and sockets that were begun. */
  get requests(): number {
    return this.#requests;
  }

  /** Those whose answer has not ended, and open sockets. */
  get inFlight(): number {
    return this.#inFlight;
  }

  get lastFailure(): { kind: FailureKind; at: number } | undefined {
    return this.#lastFailure;
  }

  /** A request goes out. */
  begin(): { answered(): void; ended(): void } {
    const from = this.#clock();
    this.#requests += 1;
    this.#inFlight += 1;
    let ended = false;
    return {
      answered: () => {
        this.#latencies[this.#answers % kept] = this.#clock() - from;
        this.#answers += 1;
      },
      ended: () => {
        if (!ended) this.#inFlight -= 1;
        ended = true;
      },
    };
  }

  failed(kind: FailureKind): void {
    this.failures[kind] += 1;
    this.#lastFailure = { kind, at: this.#clock() };
  }

  /** Milliseconds to the beginning of each of the last answers, in no order. */
  get latencies(): readonly number[] {
    return this.#latencies;
  }
}

/** The latency that so many percent have at the most; undefined without answers. */
export function percentile(latencies: readonly number[], percent: number): number | undefined {
  const sorted = latencies.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
}
