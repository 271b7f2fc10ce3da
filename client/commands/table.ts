import type { Options } from './command-line.ts';
import type { Terminal } from './terminal.ts';

/** Prints rows as columns, or with `--json` the data they were made from. */
export function printTable(terminal: Terminal, options: Options, rows: string[][], data: unknown): void {
  if (options.json) {
    terminal.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
    return;
  }
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(cell.length, widest[column] ?? 0)),
    [],
  );
  for (const row of rows) {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
    terminal.stdout.write(`${line.trimEnd()}\n`);
  }
}
