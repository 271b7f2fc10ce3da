/** Called when the store goes away, and why, and when it is back. */
export type OnReach = (away: boolean, cause?: unknown) => void;

/** Knows whether the store is away, and tells each change once. */
export class Reach {
  readonly #tell: OnReach;
  #away = false;

  constructor(tell: OnReach) {
    this.#tell = tell;
  }

  lost(cause: unknown): void {
    if (this.#away) return;
    this.#away = true;
    this.#tell(true, cause);
  }

  found(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#tell(false);
  }
}
