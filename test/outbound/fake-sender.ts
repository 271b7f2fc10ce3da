/** Records what a `ResponseBody` requests from its sender. */
export class FakeSender {
  paused = false;
  /** Reason of the abort. */
  aborted: unknown;

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  abort(reason: unknown): void {
    this.aborted ??= reason;
  }
}
