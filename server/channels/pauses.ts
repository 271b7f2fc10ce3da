/** User, model and purpose of a request: a provider's pause applies to requests with the same ones. */
export interface RequestScope {
  /** Undefined for the gateway's own requests. */
  user?: number | undefined;
  /** The model's public id. */
  model?: string | undefined;
  /** The request polls for a state. */
  poll?: boolean;
}

/**
 * - `soft`: other channels come first. A request is still allowed.
 * - `hard`: no request is allowed.
 * - `unavailable`: the provider does not serve the model now. Few requests are allowed.
 */
interface Pause {
  kind: 'soft' | 'hard' | 'unavailable';
  until: number;
  /** A success of an attempt with a higher sequence number lifts the pause. */
  sequence: number;
}

/** A throttling response without `retry-after`, or with at most this many seconds, makes a soft pause. */
const maxSoftSeconds = 1;
/** Number of pauses from which on expired ones are deleted. */
const cleanupThreshold = 1_000;

/**
 * Pauses that a provider asked for. Throttling applies to one user and model, because the gateway cannot know whose
 * limit it was. An unavailable model applies to all users.
 */
export class Pauses {
  readonly #clock: () => number;
  readonly #pauses = new Map<string, Pause>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** The pause that applies to such a request: a hard one first, then an unavailable model. */
  find(scope: RequestScope): Pause | undefined {
    if (this.#pauses.size === 0) return undefined;
    const now = this.#clock();
    const open = pauseKeys(scope)
      .map((key) => this.#pauses.get(key))
      .filter((pause) => pause !== undefined && pause.until > now);
    return open.find((pause) => pause?.kind === 'hard') ?? open.at(-1);
  }

  throttled(scope: RequestScope, seconds: number | undefined, sequence: number): void {
    const [own] = pauseKeys(scope);
    const ms = (seconds ?? maxSoftSeconds) * 1_000;
    this.#set(own, { kind: (seconds ?? 0) > maxSoftSeconds ? 'hard' : 'soft', sequence }, ms);
  }

  unavailable(scope: RequestScope, seconds: number, sequence: number): void {
    const [, shared] = pauseKeys(scope);
    this.#set(shared, { kind: 'unavailable', sequence }, seconds * 1_000);
  }

  /** Lifts older pauses after the attempt with this sequence number succeeded. */
  lift(scope: RequestScope, sequence: number): void {
    if (this.#pauses.size === 0) return;
    for (const key of pauseKeys(scope)) {
      const pause = this.#pauses.get(key);
      if (pause !== undefined && pause.sequence < sequence) this.#pauses.delete(key);
    }
  }

  clear(): void {
    this.#pauses.clear();
  }

  #set(key: string, pause: Omit<Pause, 'until'>, ms: number): void {
    const now = this.#clock();
    if (this.#pauses.size >= cleanupThreshold)
      for (const [other, { until }] of this.#pauses) if (until <= now) this.#pauses.delete(other);
    const until = now + ms;
    if ((this.#pauses.get(key)?.until ?? 0) <= until) this.#pauses.set(key, { ...pause, until });
  }
}

/** Keys of the user's own pause and of the pause shared by all users. */
function pauseKeys({ user, model = '' }: RequestScope): readonly [own: string, shared: string] {
  return [`${user ?? 'gateway'} ${model}`, `all ${model}`];
}
