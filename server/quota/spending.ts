/** Length of a window, in milliseconds. A sum covers the current and the previous window. */
export const spendingWindowMs = 30_000;

/** Sums recent spending of a key. Times are monotonic milliseconds. */
export class Spending {
  #windowStart = 0;
  #current = { amount: 0, calls: 0 };
  #previous = { amount: 0, calls: 0 };

  add(amount: number, at: number): void {
    this.#advance(at);
    this.#current.amount += amount;
    this.#current.calls += 1;
  }

  amount(at: number): number {
    this.#advance(at);
    return this.#previous.amount + this.#current.amount;
  }

  calls(at: number): number {
    this.#advance(at);
    return this.#previous.calls + this.#current.calls;
  }

  #advance(at: number): void {
    const windows = Math.floor((at - this.#windowStart) / spendingWindowMs);
    if (windows === 0) return;
    this.#previous = windows === 1 ? this.#current : { amount: 0, calls: 0 };
    this.#current = { amount: 0, calls: 0 };
    this.#windowStart = at;
  }
}
