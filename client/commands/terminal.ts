import type { Readable, Writable } from 'node:stream';

/** Standard streams and environment of a command, such as `process`. */
export interface Terminal {
  stdin: Readable;
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: { write(text: string): unknown; isTTY?: boolean };
  env: Record<string, string | undefined>;
}

/** Removes control characters from a text of external origin. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '');
}

/** Prints rows as columns, or the data as JSON with `json`. Truncates the widest columns on a narrow terminal. */
export function printTable(
  { stdout }: Pick<Terminal, 'stdout'>,
  { json = false }: { json?: boolean },
  rows: readonly (readonly string[])[],
  data: unknown,
): void {
  if (json) {
    printJson({ stdout }, data);
    return;
  }
  const cells = rows.map((row) => row.map(oneLine));
  const widths = cells.reduce<number[]>(
    (maxima, row) => row.map((cell, column) => Math.max(widthOf(cell), maxima[column] ?? 0)),
    [],
  );
  if (stdout.isTTY && stdout.columns) narrowColumns(widths, stdout.columns);
  for (const row of cells) {
    const line = row.map((cell, column) => fitWidth(cell, widths[column] ?? 0)).join(gap);
    stdout.write(`${line.trimEnd()}\n`);
  }
}

/** Prints data as JSON with control characters escaped. */
export function printJson({ stdout }: Pick<Terminal, 'stdout'>, data: unknown): void {
  const text = JSON.stringify(data, null, 2);
  stdout.write(`${text.replaceAll(invisible, (found) => (found === '\n' ? found : escaped(found)))}\n`);
}

/** Formats a text of external origin on one line, with invisible characters escaped. */
export function oneLine(text: string): string {
  return text.replaceAll(invisible, escaped);
}

/** Formats a Unix time in seconds, such as 2026-11-25T10:00:00Z. */
export function formatTime(seconds: number): string {
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
}

const gap = '  ';
const minColumnWidth = 8;

/** Control and format characters, except joiners, which scripts and emoji need. */
const invisible = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** Characters two columns wide. Terminals know more of them, which only misaligns a table. */
const wide =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;

const graphemes = new Intl.Segmenter();

function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Narrows the widest columns until a line fits. */
function narrowColumns(widths: number[], columns: number): void {
  let excess = widths.reduce((sum, width) => sum + width + gap.length, -gap.length) - columns;
  for (; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= minColumnWidth) return;
    widths[widest] = width - 1;
  }
}

/** Pads or truncates a text to a number of columns. */
function fitWidth(text: string, width: number): string {
  const textWidth = widthOf(text);
  if (textWidth <= width) return text + ' '.repeat(width - textWidth);
  let truncated = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const segmentWidth = widthOf(segment);
    if (used + segmentWidth > width - 1) break;
    truncated += segment;
    used += segmentWidth;
  }
  return `${truncated}…${' '.repeat(width - 1 - used)}`;
}
