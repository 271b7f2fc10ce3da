/** What is added up lasts at least so long, in milliseconds, and at most twice as long. */
export const spendingWindow = 30_000;

/** What has been spent lately. Times are monotonic milliseconds. */
export class Spending {
  #began = 0;
  #before = 0;
  #now = 0;
  #calls = 0;
  #callsBefore = 0;

  add(amount: number, at: number): void {
    this.#turn(at);
    this.#now += amount;
    this.#calls += 1;
  }

  amount(at: number): number {
    this.#turn(at);
    return this.#before + this.#now;
  }

  calls(at: number): number {
    this.#turn(at);
    return this.#callsBefore + this.#calls;
  }

  #turn(at: number): void {
    const windows = Math.floor((at - this.#began) / spendingWindow);
    if (windows === 0) return;
    this.#before = windows === 1 ? this.#now : 0;
    this.#callsBefore = windows === 1 ? this.#calls : 0;
    this.#now = 0;
    this.#calls = 0;
    this.#began = at;
  }
}
