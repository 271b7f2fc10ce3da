import type { Terminal } from './terminal.ts';

const redrawMs = 100;
const tickMs = 1_000;
// With the id of a task in front it fits a line of 80.
const barWidth = 12;

/** A line on a terminal that says how far something is; silent where stderr is not a terminal. */
export class Progress {
  bytes = 0;
  readonly #stderr: Terminal['stderr'];
  readonly #shown: boolean;
  #drawnAt = 0;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #since: number | undefined;

  constructor(stderr: Terminal['stderr'], quiet = false) {
    this.#stderr = stderr;
    this.#shown = !quiet && stderr.isTTY === true;
  }

  /** Shows a text, and with `percent` a bar. */
  show(text: string, percent?: number): void {
    this.#draw(percent === undefined ? text : `${text} ${bar(percent)}`);
  }

  /** The same for what takes long and may report no percent: the seconds since the first such text show that it lives. */
  wait(text: string, percent?: number): void {
    if (!this.#shown) return;
    this.#since ??= performance.now();
    const seconds = Math.floor((performance.now() - this.#since) / 1_000);
    this.show(`${text} ${seconds} s`, percent);
    this.#waiting = setTimeout(() => this.wait(text, percent), tickMs);
    this.#waiting.unref();
  }

  /** Shows how many bytes have come, and with `total` a bar. */
  received(bytes: number, total?: number): void {
    this.bytes = bytes;
    const now = performance.now();
    if (now - this.#drawnAt < redrawMs && bytes !== total) return;
    this.#drawnAt = now;
    if (total) this.show(`${inUnits(bytes)} of ${inUnits(total)}`, (100 * bytes) / total);
    else this.show(`${inUnits(bytes)} received`);
  }

  clear(): void {
    this.#draw('');
  }

  /** Says where the bytes are. */
  report(path: string): void {
    if (this.#shown) this.#stderr.write(`${path}: ${inUnits(this.bytes)}\n`);
  }

  #draw(text: string): void {
    clearTimeout(this.#waiting);
    if (this.#shown) this.#stderr.write(`\r\x1b[K${text}`);
  }
}

function bar(percent: number): string {
  const full = Math.round((Math.min(Math.max(percent, 0), 100) / 100) * barWidth);
  return `${Math.floor(percent)} % ${'█'.repeat(full)}${'░'.repeat(barWidth - full)}`;
}

function inUnits(bytes: number): string {
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
