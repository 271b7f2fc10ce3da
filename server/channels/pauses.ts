/** Whose request it is and what for, as far as a provider may ask to wait with such. */
export interface Asked {
  /** Undefined: the gateway's own. */
  user?: number | undefined;
  /** The model's public id. */
  model?: string | undefined;
  /** It asks how something stands. */
  poll?: boolean;
}

/**
 * - `mild`: others first; it may be tried.
 * - `firm`: the provider takes none until then.
 * - `away`: the model is not there; it may be tried now and then.
 */
interface Pause {
  kind: 'mild' | 'firm' | 'away';
  until: number;
  /** What began later than this, and succeeds, ends it. */
  count: number;
}

/** Without more words, and up to so many seconds, throttling is only a reason to ask another channel first. */
const mildSeconds = 1;
/** From so many on, those that are over are taken out. */
const crowded = 1_000;

/**
 * What a provider asked to wait with. Throttling is about the user it was said to and the model that was asked for: whose
 * limit it was cannot be known, so nobody else waits for it. That a service is away concerns all users of the model.
 */
export class Pauses {
  readonly #clock: () => number;
  readonly #pauses = new Map<string, Pause>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** The longest pause that such a request is to make. */
  find(asked: Asked): Pause | undefined {
    if (this.#pauses.size === 0) return undefined;
    const now = this.#clock();
    const open = keysOf(asked)
      .map((key) => this.#pauses.get(key))
      .filter((pause) => pause !== undefined && pause.until > now);
    return open.find((pause) => pause?.kind === 'firm') ?? open.at(-1);
  }

  throttled(asked: Asked, seconds: number | undefined, count: number): void {
    const [own] = keysOf(asked);
    const ms = (seconds ?? mildSeconds) * 1_000;
    this.#set(own, { kind: (seconds ?? 0) > mildSeconds ? 'firm' : 'mild', count }, ms);
  }

  away(asked: Asked, seconds: number, count: number): void {
    const [, everyones] = keysOf(asked);
    this.#set(everyones, { kind: 'away', count }, seconds * 1_000);
  }

  /** A request that began at that count was answered. */
  lift(asked: Asked, began: { count: number }): void {
    if (this.#pauses.size === 0) return;
    for (const key of keysOf(asked)) {
      const pause = this.#pauses.get(key);
      if (pause !== undefined && pause.count < began.count) this.#pauses.delete(key);
    }
  }

  clear(): void {
    this.#pauses.clear();
  }

  #set(key: string, pause: Omit<Pause, 'until'>, ms: number): void {
    const now = this.#clock();
    if (this.#pauses.size >= crowded)
      for (const [other, { until }] of this.#pauses) if (until <= now) this.#pauses.delete(other);
    const until = now + ms;
    if ((this.#pauses.get(key)?.until ?? 0) <= until) this.#pauses.set(key, { ...pause, until });
  }
}

/** The user's own, and everyone's. */
function keysOf({ user, model = '' }: Asked): readonly [string, string] {
  return [`${user ?? 'gateway'} ${model}`, `all ${model}`];
}
