import { glyphHeight, glyphRows, glyphWidth } from './glyphs.ts';

/** From one character to the next, and from one line to the next, in glyph pixels. */
export const advance = glyphWidth + 1;
export const lineHeight = glyphHeight + 3;

/** Horizontal runs of set pixels of one line of text, in glyph pixels. */
export function* textRuns(text: string): Generator<{ x: number; y: number; length: number }> {
  for (const [index, character] of Array.from(text).entries()) {
    for (const [y, row] of glyphRows(character).entries()) {
      for (let x = 0; x < glyphWidth; x++) {
        const start = x;
        while (x < glyphWidth && (row >> (glyphWidth - 1 - x)) & 1) x++;
        if (x > start) yield { x: index * advance + start, y, length: x - start };
      }
    }
  }
}

/** One line of text as the data of an SVG path; `scale` is the side of a glyph pixel. */
export function textPath(text: string, x: number, y: number, scale: number): string {
  let path = '';
  for (const run of textRuns(text)) {
    const width = run.length * scale;
    path += `M${x + run.x * scale} ${y + run.y * scale}h${width}v${scale}h-${width}z`;
  }
  return path;
}

/** Breaks text into at most `most` lines of `columns` characters; what does not fit ends in three dots. */
export function wrapText(text: string, columns: number, most: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((long) => slices(long, columns))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (Array.from(longer).length <= columns) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  if (line !== '') lines.push(line);
  if (lines.length <= most) return lines;
  const last = Array.from(lines[most - 1] ?? '').slice(0, columns - 3);
  return [...lines.slice(0, most - 1), `${last.join('')}...`];
}

function slices(word: string, length: number): string[] {
  const characters = Array.from(word);
  const parts: string[] = [];
  for (let start = 0; start < characters.length; start += length)
    parts.push(characters.slice(start, start + length).join(''));
  return parts;
}
