import type { Terminal } from './terminal.ts';

const REDRAW_MS = 100;

/** A line on a terminal that counts the bytes received; silent where stderr is not a terminal. */
export class Progress {
  bytes = 0;
  readonly #stderr: Terminal['stderr'];
  readonly #shown: boolean;
  #drawnAt = 0;

  constructor(stderr: Terminal['stderr'], quiet = false) {
    this.#stderr = stderr;
    this.#shown = !quiet && stderr.isTTY === true;
  }

  start(): void {
    this.#draw('waiting for the audio …');
  }

  add(bytes: number): void {
    this.bytes += bytes;
    const now = Date.now();
    if (now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#draw(`${kilobytes(this.bytes)} received`);
  }

  clear(): void {
    this.#draw('');
  }

  /** Says where the audio is. */
  report(path: string): void {
    if (this.#shown) this.#stderr.write(`${path}: ${kilobytes(this.bytes)}\n`);
  }

  #draw(text: string): void {
    if (this.#shown) this.#stderr.write(`\r\x1b[K${text}`);
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}
