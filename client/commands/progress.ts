import { printable, type Terminal } from './terminal.ts';

const redrawMs = 100;
const tickMs = 1_000;
const barWidth = 20;

/** A line on a terminal that says how far something is, and lines that stay, which need no terminal. */
export class Progress {
  bytes = 0;
  readonly #stderr: Terminal['stderr'];
  readonly #quiet: boolean;
  readonly #shown: boolean;
  #drawnAt = 0;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #since: number | undefined;
  #last: { state: string; percent: number } | undefined;
  #measured = false;

  constructor(stderr: Terminal['stderr'], quiet = false) {
    this.#stderr = stderr;
    this.#quiet = quiet;
    this.#shown = !quiet && stderr.isTTY === true;
  }

  /**
   * Shows what is waited for, and the seconds since the first such call. A percent becomes a bar once it has moved
   * within a state: where the protocol has no figures, each state has one and the same.
   */
  wait(state: string, percent = 0): void {
    if (!this.#shown) return;
    this.#since ??= performance.now();
    const before = this.#last?.state === state ? this.#last.percent : 0;
    this.#measured ||= before > 0 && percent > before;
    this.#last = { state, percent };
    this.#tick(this.#measured ? `${state} ${bar(percent)}` : state, this.#since);
  }

  /** Shows how many bytes have come, and with `total` a bar. */
  received(bytes: number, total?: number): void {
    this.bytes = bytes;
    const now = performance.now();
    if (now - this.#drawnAt < redrawMs && bytes !== total) return;
    this.#drawnAt = now;
    if (total) this.#draw(`${inUnits(bytes)} of ${inUnits(total)} ${bar((100 * bytes) / total)}`);
    else this.#draw(`${inUnits(bytes)} received`);
  }

  clear(): void {
    this.#draw('');
  }

  /** Writes a line that stays, also without a terminal. */
  tell(line: string): void {
    this.clear();
    if (!this.#quiet) this.#stderr.write(`${printable(line)}\n`);
  }

  /** Says on a terminal where the bytes are. */
  report(path: string): void {
    if (this.#shown) this.tell(`${path}: ${inUnits(this.bytes)}`);
  }

  #tick(text: string, since: number): void {
    this.#draw(`${text} ${Math.floor((performance.now() - since) / 1_000)} s`);
    this.#waiting = setTimeout(() => this.#tick(text, since), tickMs);
    this.#waiting.unref();
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
