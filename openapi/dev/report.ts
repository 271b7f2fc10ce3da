import { type Problem, problemLine } from '../tools/problem.ts';
import type { RunResult } from './loop.ts';

/** Maximum number of printed lines, in total and per file. Further lines are counted. */
const maxLines = 20;
const maxLinesPerFile = 3;

/** Maximum length of a line. Compiler messages can be much longer. */
const maxLineLength = 240;

/** Renders a result, `milliseconds` after the save. */
export function resultLines(result: RunResult, milliseconds: number, since: string): string[] {
  const { changes, written, problems, checked, durations } = result;
  const steps = `lint ${whole(durations.lint)}, files ${whole(durations.files)}, types of ${counted(checked, 'file')} ${whole(durations.types)}`;
  return [
    ...short(changes).map((line) => `  ${line}`),
    ...(written.length > 0 ? [`  generated: ${written.join(', ')}`] : []),
    ...problemLines(problems),
    `${summary(problems)} ${whole(milliseconds)} ms ${since} (${steps})`,
  ];
}

/** Renders the result of the check of all other files. */
export function restLines(rest: { problems: Problem[]; checked: number }, milliseconds: number): string[] {
  if (rest.checked === 0) return [];
  const lines = problemLines(rest.problems);
  return [
    ...lines,
    `${summary(rest.problems)} in the types of ${counted(rest.checked, 'other file')}, ${whole(milliseconds)} ms in total`,
  ];
}

const summary = (problems: readonly Problem[]) =>
  problems.length === 0 ? 'OK' : counted(problems.length, 'problem');

function problemLines(problems: readonly Problem[]): string[] {
  const byFile = Map.groupBy(problems, ({ file }) => file);
  const lines = [...byFile].flatMap(([file, found]) => [
    ...found.slice(0, maxLinesPerFile).map(problemLine).map(cut),
    ...(found.length > maxLinesPerFile ? [`${file}: ${found.length - maxLinesPerFile} more`] : []),
  ]);
  return short(lines).map((line) => `  ${line}`);
}

const cut = (line: string) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line);

const short = (lines: readonly string[]) =>
  lines.length > maxLines
    ? [...lines.slice(0, maxLines), `and ${lines.length - maxLines} more lines`]
    : lines;

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const whole = (milliseconds: number) => Math.round(milliseconds);
