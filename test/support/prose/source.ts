import { ASTNodeTypes, type TxtDocumentNode, type TxtParagraphNode } from '@textlint/ast-node-types';

/** A stretch of a file, as offsets: from `start` up to and without `end`. */
export interface Range {
  start: number;
  end: number;
}

/** The prose of a file: its text with everything else blanked, so that offsets stay the same, and its paragraphs. */
export interface Prose {
  text: string;
  ast: TxtDocumentNode;
}

/** Returns the text with all characters outside of the ranges replaced by spaces. Line breaks stay. */
export function blankOutside(text: string, ranges: readonly Range[]): string {
  let blanked = '';
  let at = 0;
  for (const { start, end } of ranges) {
    blanked += blank(text.slice(at, start)) + text.slice(start, end);
    at = end;
  }
  return blanked + blank(text.slice(at));
}

/** Returns spaces of the same length. Line breaks stay. */
export const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

const codeOrLink = /`[^`]*`|\{@\w+[^}]*\}|https?:\/\/\S+/g;

/**
 * Builds the textlint document of a text whose paragraphs are known. Inline code, links and addresses become code nodes,
 * which the rules skip.
 */
export function documentOf(text: string, paragraphs: readonly Range[]): TxtDocumentNode {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const position = (offset: number) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) };
  };
  const base = ({ start, end }: Range) => ({
    raw: text.slice(start, end),
    range: [start, end] as const,
    loc: { start: position(start), end: position(end) },
  });
  const inline = (range: Range) => {
    const children: TxtParagraphNode['children'][number][] = [];
    const str = (one: Range) => {
      if (one.end > one.start)
        children.push({ type: ASTNodeTypes.Str, value: text.slice(one.start, one.end), ...base(one) });
    };
    let at = range.start;
    for (const match of text.slice(range.start, range.end).matchAll(codeOrLink)) {
      const start = range.start + match.index;
      const one = { start, end: start + match[0].length };
      str({ start: at, end: start });
      children.push({ type: ASTNodeTypes.Code, value: match[0], ...base(one) });
      at = one.end;
    }
    str({ start: at, end: range.end });
    return children;
  };
  return {
    type: ASTNodeTypes.Document,
    ...base({ start: 0, end: text.length }),
    children: paragraphs.map((range) => ({
      type: ASTNodeTypes.Paragraph,
      ...base(range),
      children: inline(range),
    })),
  };
}
