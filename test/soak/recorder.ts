/** An operation that takes longer hangs, even on an overloaded machine. */
export const maxWaitMs = 180_000;

/** A request of a soak client. */
export interface SoakRequest {
  /** Name in the report. */
  kind: string;
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Allowed statuses, including 5xx. Default: 200. */
  statuses?: readonly number[];
  /** Whether the upstream may interrupt the response. */
  mayFail?: boolean;
  /** The client aborts after this time. */
  abortAfterMs?: number;
  /** The client reads no byte of the response before this time. */
  readAfterMs?: number;
  /** Cost in quota of a complete response, if known in advance. */
  expectedCost?: number;
  /** Returns the cost in quota that a complete response reports. */
  readCost?: (body: string) => number | undefined;
  /** Whether the response contains the id of a task. */
  createsTask?: boolean;
  /** Callback URL of the task. */
  callbackUrl?: string;
}

/** A complete response, or a session end that the gateway confirmed. */
export interface RecordedResponse {
  requestId: string;
  kind: string;
  tokenId: number;
  status: number;
  /** Expected cost. Undefined: not known. */
  expectedCost: number | undefined;
  /** Whether the log must have an entry. */
  logged: boolean;
}

/** An API key of the soak clients. */
export interface SoakKey {
  id: number;
  secret: string;
  granted: number;
  /** Whether its deletion has started, so that a 401 is allowed. */
  revoked?: boolean;
}

/** Records the responses to the clients, and the faults found. */
export class Recorder {
  readonly responses: RecordedResponse[] = [];
  readonly faults: string[] = [];
  /** Number of requests by `<kind>: <outcome>`. */
  readonly outcomes = new Map<string, number>();
  /** Responses that created an unfinished task, by the path to poll it. */
  readonly openTasks = new Map<string, RecordedResponse>();
  /** Poll paths of tasks by callback URL. */
  readonly callbackUrls = new Map<string, string>();
  tasks = 0;
  /** The slowest complete response. Reported only. */
  slowest = { kind: '', ms: 0 };
  readonly #onFault: (description: string) => void;

  /** @param onFault is called with each fault of a response */
  constructor(onFault: (description: string) => void) {
    this.#onFault = onFault;
  }

  countOutcome(kind: string, outcome: string): void {
    const name = `${kind}: ${outcome}`;
    this.outcomes.set(name, (this.outcomes.get(name) ?? 0) + 1);
  }

  recordDuration(kind: string, ms: number): void {
    if (ms > this.slowest.ms) this.slowest = { kind, ms };
  }

  recordFault(kind: string, description: string): void {
    this.countOutcome(kind, 'FAULT');
    this.faults.push(`${kind}: ${description}`);
    this.#onFault(`${new Date().toISOString()} ${kind}: ${description}`);
  }
}
