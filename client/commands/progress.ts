import { printable, type Terminal } from './terminal.ts';

const redrawMs = 100;
const tickMs = 1_000;
const barWidth = 20;

/** Shows a status line on a terminal, and prints permanent lines with or without one. */
export class Progress {
  bytes = 0;
  readonly #stderr: Terminal['stderr'];
  readonly #quiet: boolean;
  readonly #isShown: boolean;
  #drawnAt = 0;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #since: number | undefined;
  #last: { state: string; percent: number } | undefined;
  #hasPercent = false;

  constructor(stderr: Terminal['stderr'], quiet = false) {
    this.#stderr = stderr;
    this.#quiet = quiet;
    this.#isShown = !quiet && stderr.isTTY === true;
  }

  /**
   * Shows a state and the seconds since the first call. The percent becomes a bar once it changes within a state, because
   * protocols without progress report a constant percent per state.
   */
  showStatus(state: string, percent = 0): void {
    if (!this.#isShown) return;
    this.#since ??= performance.now();
    const before = this.#last?.state === state ? this.#last.percent : 0;
    this.#hasPercent ||= before > 0 && percent > before;
    this.#last = { state, percent };
    this.#tick(this.#hasPercent ? `${state} ${bar(percent)}` : state, this.#since);
  }

  /** Shows the number of bytes received, and a bar if `total` is known. */
  showBytes(bytes: number, total?: number): void {
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

  /** Prints a permanent line, also without a terminal. */
  printLine(line: string): void {
    this.clear();
    if (!this.#quiet) this.#stderr.write(`${printable(line)}\n`);
  }

  /** Prints the output file and its size on a terminal. */
  printResult(path: string): void {
    if (this.#isShown) this.printLine(`${path}: ${inUnits(this.bytes)}`);
  }

  #tick(text: string, since: number): void {
    this.#draw(`${text} ${Math.floor((performance.now() - since) / 1_000)} s`);
    this.#waiting = setTimeout(() => this.#tick(text, since), tickMs);
    this.#waiting.unref();
  }

  #draw(text: string): void {
    clearTimeout(this.#waiting);
    if (this.#isShown) this.#stderr.write(`\r\x1b[K${text}`);
  }
}

function bar(percent: number): string {
  const full = Math.round((Math.min(Math.max(percent, 0), 100) / 100) * barWidth);
  return `${Math.floor(percent)} % ${'█'.repeat(full)}${'░'.repeat(barWidth - full)}`;
}

function inUnits(bytes: number): string {
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
