/** The other end of a body. */
export class FakeSender {
  paused = false;
  /** Why nobody wants the rest. */
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
