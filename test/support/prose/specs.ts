import { isMap, isPair, isScalar, isSeq, type Node, parseDocument } from 'yaml';
import { blankOutside, documentOf, type Prose, type Range } from './source.ts';

/** Keys of the specs whose values are prose. */
const proseKeys: ReadonlySet<string> = new Set([
  'description',
  'summary',
  'limit',
  'remedy',
  'title',
  'when',
  'x-decision',
  'x-form',
]);
/** Keys whose values are data of clients and providers. */
const dataKeys: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'payload', 'value']);

/** Returns the descriptions, summaries and decisions of a YAML file of the specs. Throws on a syntax error. */
export function proseOfSpec(file: string, source: string): Prose {
  const document = parseDocument(source);
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  const texts: Range[] = [];
  collect(source, document.contents, texts);
  texts.sort((one, other) => one.start - other.start);
  const text = blankOutside(source, texts);
  return {
    text,
    ast: documentOf(
      text,
      texts.flatMap((range) => paragraphsOf(text, range)),
    ),
  };
}

function collect(source: string, node: Node | null, texts: Range[]): void {
  if (isSeq(node)) for (const item of node.items) collect(source, item as Node | null, texts);
  if (!isMap(node)) return;
  for (const pair of node.items) {
    if (!isPair(pair) || !isScalar(pair.key)) continue;
    const key = String(pair.key.value);
    const value = pair.value as Node | null;
    if (dataKeys.has(key)) continue;
    if (!proseKeys.has(key) || !isScalar(value)) collect(source, value, texts);
    else if (typeof value.value === 'string' && value.range) {
      const [start, end] = value.range;
      const block = value.type === 'BLOCK_LITERAL' || value.type === 'BLOCK_FOLDED';
      const quoted = value.type === 'QUOTE_SINGLE' || value.type === 'QUOTE_DOUBLE' ? 1 : 0;
      // The first line of a block has only its indicator.
      texts.push({ start: block ? source.indexOf('\n', start) + 1 : start + quoted, end: end - quoted });
    }
  }
}

/** Empty lines and list items separate paragraphs. */
function paragraphsOf(text: string, { start, end }: Range): Range[] {
  const paragraphs: Range[] = [];
  let open: Range | undefined;
  let at = start;
  for (const line of text.slice(start, end).split('\n')) {
    const from = at + (line.length - line.trimStart().length);
    if (line.trim() === '') open = undefined;
    else {
      if (open === undefined || /^\s*(?:[-*|] |\d+\. |#)/.test(line)) {
        open = { start: from, end: from };
        paragraphs.push(open);
      }
      open.end = at + line.trimEnd().length;
    }
    at += line.length + 1;
  }
  return paragraphs;
}
