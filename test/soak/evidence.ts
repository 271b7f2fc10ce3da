/** What takes longer than so many milliseconds hangs, even on a machine with ten times as much to do as it can. */
export const patienceMs = 180_000;

/** What a customer asks for. */
export interface Ask {
  /** For people, and for the table of the report. */
  kind: string;
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Statuses that the gateway is to answer with; default: 200 alone. What is above 499 is then no fault. */
  statuses?: readonly number[];
  /** The upstream may break the answer off, as it was asked to. */
  mayBreak?: boolean;
  /** The client leaves after so many milliseconds. */
  leaveAfterMs?: number;
  /** The client reads nothing of the answer before so many milliseconds. */
  readsAfterMs?: number;
  /** Quota that a whole answer costs, if that is known beforehand. */
  costs?: number;
  /** Quota that a whole answer costs, as it says itself. */
  costsOf?: (body: string) => number | undefined;
  /** Its answer tells the id of a task. */
  makesTask?: boolean;
  /** Where the task's end is to be told, at the receiver. */
  hook?: string;
}

/** An answer that came whole, or the end of a session that the gateway confirmed. */
export interface Told {
  requestId: string;
  kind: string;
  tokenId: number;
  status: number;
  /** What it must have cost; undefined: not known. */
  costs: number | undefined;
  /** Whether the log must have an entry of it by now. */
  logged: boolean;
}

/** A key that customers ask with. */
export interface SoakKey {
  id: number;
  secret: string;
  granted: number;
  /** It is being deleted, so that it may be refused from now on. */
  revoked?: boolean;
}

/** All that customers were told, and what must never have happened. */
export class Evidence {
  readonly told: Told[] = [];
  readonly faults: string[] = [];
  /** How often each outcome came, by `<kind> <outcome>`. */
  readonly outcomes = new Map<string, number>();
  /** Tasks that were told and have not come to their end, by the address to poll them at, with the answer that told them. */
  readonly openTasks = new Map<string, Told>();
  /** Where the ends of tasks that were told are to be told too, with the address to poll each at. */
  readonly hooks = new Map<string, string>();
  tasks = 0;
  /** Milliseconds that the slowest whole answer took, and what it answered: told, and not judged. */
  slowest = { kind: '', ms: 0 };
  readonly #onFault: (what: string) => void;

  /** @param onFault is told each fault of an answer when it is found */
  constructor(onFault: (what: string) => void) {
    this.#onFault = onFault;
  }

  count(kind: string, outcome: string): void {
    const name = `${kind}: ${outcome}`;
    this.outcomes.set(name, (this.outcomes.get(name) ?? 0) + 1);
  }

  took(kind: string, ms: number): void {
    if (ms > this.slowest.ms) this.slowest = { kind, ms };
  }

  fault(kind: string, what: string): void {
    this.count(kind, 'FAULT');
    this.faults.push(`${kind}: ${what}`);
    this.#onFault(`${new Date().toISOString()} ${kind}: ${what}`);
  }
}
