import { parseSync } from 'oxc-parser';
import { blank, blankOutside, documentOf, type Prose, type Range } from './source.ts';

/** Comments that are instructions for a tool. */
const directive = /^\s*(?:@ts-|biome-ignore|oxlint-|eslint-|#region|#endregion|\/ <reference)/;
/** A line that starts a paragraph: a list item or a tag of a doc comment. */
const paragraphStart = /^\s*(?:[-*] |\d+\. |@\w+)/;
/** The tag of a doc comment, with the name of its parameter. */
const tag = /@(?:param\s+[\w.[\]]+|\w+)(?:\s+-)?/g;

/** Returns the comments of a TypeScript or JavaScript file. Throws on a syntax error. */
export function proseOfComments(file: string, source: string): Prose {
  const { comments, errors } = parseSync(file, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  const inner = comments
    .filter(({ value }) => !directive.test(value))
    .map(({ start, value }): Range => ({ start: start + 2, end: start + 2 + value.length }));
  const blanked = blankOutside(source, inner);
  const text = withoutMarks(blanked, inner);
  return { text, ast: documentOf(text, paragraphsOf(text, inner)) };
}

/** Blanks what is not prose inside of the comments: the stars at line starts and the tags. */
function withoutMarks(text: string, ranges: readonly Range[]): string {
  let result = '';
  let at = 0;
  for (const { start, end } of ranges) {
    const comment = text
      .slice(start, end)
      .replace(/^\*/, blank)
      .replaceAll(/^[ \t]*\*(?!\*)/gm, blank)
      .replaceAll(tag, blank);
    result += text.slice(at, start) + comment;
    at = end;
  }
  return result + text.slice(at);
}

/** Line comments below each other are one text; empty lines, list items and tags separate its paragraphs. */
function paragraphsOf(text: string, ranges: readonly Range[]): Range[] {
  const paragraphs: Range[] = [];
  let open: Range | undefined;
  let last = 0;
  for (const { start, end } of ranges) {
    const between = text.slice(last, start);
    if (between.split('\n').length !== 2 || between.trim() !== '') open = undefined;
    last = end;
    let at = start;
    for (const line of text.slice(start, end).split('\n')) {
      const from = at + (line.length - line.trimStart().length);
      if (line.trim() === '') open = undefined;
      else {
        if (open === undefined || paragraphStart.test(line)) {
          open = { start: from, end: from };
          paragraphs.push(open);
        }
        open.end = at + line.trimEnd().length;
      }
      at += line.length + 1;
    }
  }
  return paragraphs;
}
