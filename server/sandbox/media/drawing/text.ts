/** Width and height of a glyph in glyph pixels. */
const glyphWidth = 5;
export const glyphHeight = 7;

/**
 * The printable ASCII characters in order. Each row of a glyph, from top to bottom, is one digit in base 32 for its
 * five pixels, the leftmost in the highest bit.
 */
const glyphs: readonly string[] = [
  '0000000 4444004 aaa0000 aavavaa 4fke5u4 op248j3 cik8lid c480000 2488842 8422248 04lel40 044v440',
  '0000c48 000v000 00000cc 01248g0 ehjlphe 4c4444e eh1248v v2421he 26aiv22 vgu11he 68guhhe v124888',
  'ehhehhe ehhf12c 0cc0cc0 0cc0c48 248g842 00v0v00 8421248 eh12404 eh1dlle ehhvhhh uhhuhhu ehggghe',
  'uhhhhhu vgguggv vgguggg ehgnhhf hhhvhhh e44444e 72222ic hikokih ggggggv hrllhhh hhpljhh ehhhhhe',
  'uhhuggg ehhhlid uhhukih fgge11u v444444 hhhhhhe hhhhha4 hhhllla hha4ahh hhha444 v1248gv e88888e',
  '0g84210 e22222e 4ah0000 000000v 8420000 00e1fhf ggmphhu 00egghe 11djhhf 00ehvge 698s888 0fhhf1e',
  'ggmphhh 40c444e 20622ic ggikoki c44444e 00qllhh 00mphhh 00ehhhe 00uhugg 00djf11 00mpggg 00ege1u',
  '88s8896 00hhhjd 00hhha4 00hhlla 00ha4ah 00hhf1e 00v248v 2448442 4444444 8442448 008l200',
].flatMap((line) => line.split(' '));

/**
 * Returns the seven rows of a character, the leftmost pixel in bit 4. A character that the font lacks is a frame around
 * 15 pixels that encode the low bits of its code point, so that different characters look different.
 */
function glyphRows(character: string): readonly number[] {
  const code = character.codePointAt(0) ?? 0;
  const known = glyphs[code - 32];
  if (known) return Array.from(known, (digit) => Number.parseInt(digit, 32));
  const inside = [12, 9, 6, 3, 0].map((shift) => 0b10001 | (((code >> shift) & 0b111) << 1));
  return [0b11111, ...inside, 0b11111];
}

/** Removes accents and replaces typographic characters, as far as the font requires. */
export function toPrintable(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[‐-―]/g, '-')
    .replace(/\s+/g, ' ');
}

/** Distances between characters and between lines, in glyph pixels. */
export const charAdvance = glyphWidth + 1;
export const lineHeight = glyphHeight + 3;

/** Yields the horizontal runs of set pixels of one line of text, in glyph pixels. */
export function* textRuns(text: string): Generator<{ x: number; y: number; length: number }> {
  for (const [index, character] of Array.from(text).entries()) {
    for (const [y, row] of glyphRows(character).entries()) {
      for (let x = 0; x < glyphWidth; x++) {
        const start = x;
        while (x < glyphWidth && (row >> (glyphWidth - 1 - x)) & 1) x++;
        if (x > start) yield { x: index * charAdvance + start, y, length: x - start };
      }
    }
  }
}

/** Converts one line of text to SVG path data. `scale` is the side of a glyph pixel. */
export function textPath(text: string, x: number, y: number, scale: number): string {
  let path = '';
  for (const run of textRuns(text)) {
    const width = run.length * scale;
    path += `M${x + run.x * scale} ${y + run.y * scale}h${width}v${scale}h-${width}z`;
  }
  return path;
}

/**
 * Wraps text to at most `maxLines` lines of `columns` characters. Text that does not fit is truncated with three dots.
 */
export function wrapText(text: string, columns: number, maxLines: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((long) => splitWord(long, columns))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (Array.from(longer).length <= columns) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  if (line !== '') lines.push(line);
  if (lines.length <= maxLines) return lines;
  const last = Array.from(lines[maxLines - 1] ?? '').slice(0, columns - 3);
  return [...lines.slice(0, maxLines - 1), `${last.join('')}...`];
}

function splitWord(word: string, length: number): string[] {
  const characters = Array.from(word);
  const parts: string[] = [];
  for (let start = 0; start < characters.length; start += length)
    parts.push(characters.slice(start, start + length).join(''));
  return parts;
}
