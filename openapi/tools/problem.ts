import type { ErrorObject } from 'ajv';
import { isMap, LineCounter, parseDocument } from 'yaml';
import { ajvMessage } from './ajv-message.ts';

/** A problem of the contract and its location. */
export interface Problem {
  /** Path below the root, with slashes. */
  file: string;
  /** Starts at 1. Undefined if only the file is known. */
  line?: number | undefined;
  column?: number | undefined;
  severity: 'error' | 'warn';
  /** The lint rule. Undefined if the file cannot be read. */
  rule?: string | undefined;
  message: string;
}

/** The contract has problems. The message has one line per problem. */
export class SpecProblems extends Error {
  override readonly name = 'SpecProblems';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemLine).join('\n'));
    this.problems = problems;
  }
}

/** Formats `file:line:column severity rule: message`, which editors and terminals turn into links. */
export function problemLine({ file, line, column, severity, rule, message }: Problem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return `${place} ${severity}${rule === undefined ? '' : ` ${rule}`}: ${message}`;
}

/** A problem in a YAML file, located by keys and indices. */
export interface Mistake {
  path: readonly (string | number)[];
  message: string;
}

/** Converts an Ajv error to a mistake. */
export function schemaMistake(error: ErrorObject): Mistake {
  const { instancePath } = error;
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return { path, message: `${instancePath} ${ajvMessage(error)}`.trim() };
}

/** Parses YAML. Throws SpecProblems if it is invalid. */
export function readYaml(file: string, text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problems = document.errors.map(({ message, pos }): Problem => {
    const { line, col } = lines.linePos(pos[0]);
    const [first = ''] = message.split(/ at line \d+/);
    return { file, line, column: col, severity: 'error', message: first };
  });
  if (problems.length > 0) throw new SpecProblems(problems);
  return document.toJS();
}

/** Converts mistakes to problems with the line of each. */
export function yamlProblems(file: string, text: string, mistakes: readonly Mistake[]): SpecProblems {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  return new SpecProblems(
    mistakes.map(({ path, message }): Problem => {
      const start = startOf(document, path);
      const { line, col } = start === undefined ? {} : lines.linePos(start);
      return { file, line, column: col, severity: 'error', message };
    }),
  );
}

/** Line of the node at a path, or of its nearest ancestor. Starts at 1. */
export function lineOf(text: string, path: readonly (string | number)[]): number {
  const lines = new LineCounter();
  return lines.linePos(startOf(parseDocument(text, { lineCounter: lines }), path) ?? 0).line;
}

/** Offset of the node at a path, or of its nearest ancestor. */
function startOf(document: ReturnType<typeof parseDocument>, path: readonly (string | number)[]) {
  for (let depth = path.length; depth >= 0; depth--) {
    const parent = document.getIn(path.slice(0, depth - 1), true);
    const key = path[depth - 1];
    const pair = isMap(parent) ? parent.items.find((item) => String(item.key) === String(key)) : undefined;
    const node = (pair?.key ?? document.getIn(path.slice(0, depth), true)) as
      | { range?: number[] }
      | undefined;
    const start = node?.range?.[0];
    if (start !== undefined) return start;
  }
  return undefined;
}
