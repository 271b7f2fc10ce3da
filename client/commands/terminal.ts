import type { Readable, Writable } from 'node:stream';
import type { Options } from './command-line.ts';

/** The standard streams and the environment of a command; `process` is one. */
export interface Terminal {
  stdin: Readable;
  stdout: Writable & { isTTY?: boolean };
  stderr: { write(text: string): unknown; isTTY?: boolean };
  env: Record<string, string | undefined>;
}

/** A text of somebody else's without what could steer a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '');
}

/** Prints rows as columns, or with `--json` the data they were made from. */
export function printTable(terminal: Terminal, options: Options, rows: string[][], data: unknown): void {
  if (options.json) {
    terminal.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
    return;
  }
  const widths = rows.reduce<number[]>(
    (maxima, row) => row.map((cell, column) => Math.max(cell.length, maxima[column] ?? 0)),
    [],
  );
  for (const row of rows) {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
    terminal.stdout.write(`${printable(line).trimEnd()}\n`);
  }
}
