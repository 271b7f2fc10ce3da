import type { Readable, Writable } from 'node:stream';

/** The standard streams and the environment of a command; `process` is one. */
export interface Terminal {
  stdin: Readable;
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: { write(text: string): unknown; isTTY?: boolean };
  env: Record<string, string | undefined>;
}

/** A text of somebody else's without what could steer a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '');
}

/**
 * Prints rows as columns, or with `json` the data they were made from. On a terminal that is too narrow the widest
 * columns are cut.
 */
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
  if (stdout.isTTY && stdout.columns) narrow(widths, stdout.columns);
  for (const row of cells) {
    const line = row.map((cell, column) => fit(cell, widths[column] ?? 0)).join(gap);
    stdout.write(`${line.trimEnd()}\n`);
  }
}

/** Prints data as JSON that no terminal is steered by. */
export function printJson({ stdout }: Pick<Terminal, 'stdout'>, data: unknown): void {
  const text = JSON.stringify(data, null, 2);
  stdout.write(`${text.replaceAll(unseen, (found) => (found === '\n' ? found : escaped(found)))}\n`);
}

/** A text of somebody else's on one line, with what cannot be seen written as an escape. */
export function oneLine(text: string): string {
  return text.replaceAll(unseen, escaped);
}

const gap = '  ';
const leastWidth = 8;

/** Controls, and what turns or hides text; joiners stay, since scripts and emoji need them. */
const unseen = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** Takes two columns; a terminal knows more of these, which costs no more than a crooked table. */
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

/** Takes from the widest columns until a line has room. */
function narrow(widths: number[], columns: number): void {
  let over = widths.reduce((sum, width) => sum + width + gap.length, -gap.length) - columns;
  for (; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= leastWidth) return;
    widths[widest] = width - 1;
  }
}

/** The text in so many columns, filled up or cut. */
function fit(text: string, width: number): string {
  const own = widthOf(text);
  if (own <= width) return text + ' '.repeat(width - own);
  let kept = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const more = widthOf(segment);
    if (used + more > width - 1) break;
    kept += segment;
    used += more;
  }
  return `${kept}…${' '.repeat(width - 1 - used)}`;
}
