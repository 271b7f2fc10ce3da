import { type Problem, problemLine } from '../tools/problem.ts';
import type { Verdict } from './loop.ts';

/** How many lines of one kind, and of one file, are printed; the others are only counted. */
const shown = 20;
const shownOfFile = 3;

/** The compiler's sentences may go on for a page. */
const longest = 240;

/** What is printed of a verdict, `milliseconds` after the save. */
export function verdictLines(verdict: Verdict, milliseconds: number, since: string): string[] {
  const { changes, written, problems, checked, took } = verdict;
  const steps = `lint ${whole(took.lint)}, files ${whole(took.files)}, types of ${counted(checked, 'file')} ${whole(took.types)}`;
  return [
    ...short(changes).map((line) => `  ${line}`),
    ...(written.length > 0 ? [`  generated: ${written.join(', ')}`] : []),
    ...problemLines(problems),
    `${word(problems)} ${whole(milliseconds)} ms ${since} (${steps})`,
  ];
}

/** What is printed when the types of all other files were checked too. */
export function restLines(rest: { problems: Problem[]; checked: number }, milliseconds: number): string[] {
  if (rest.checked === 0) return [];
  const lines = problemLines(rest.problems);
  return [
    ...lines,
    `${word(rest.problems)} in the types of ${counted(rest.checked, 'other file')}, ${whole(milliseconds)} ms in all`,
  ];
}

const word = (problems: readonly Problem[]) =>
  problems.length === 0 ? 'holds' : `broken (${counted(problems.length, 'problem')})`;

function problemLines(problems: readonly Problem[]): string[] {
  const byFile = Map.groupBy(problems, ({ file }) => file);
  const lines = [...byFile].flatMap(([file, found]) => [
    ...found.slice(0, shownOfFile).map(problemLine).map(cut),
    ...(found.length > shownOfFile ? [`${file}: ${found.length - shownOfFile} more`] : []),
  ]);
  return short(lines).map((line) => `  ${line}`);
}

const cut = (line: string) => (line.length > longest ? `${line.slice(0, longest)}…` : line);

const short = (lines: readonly string[]) =>
  lines.length > shown ? [...lines.slice(0, shown), `and ${lines.length - shown} more lines`] : lines;

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`;

const whole = (milliseconds: number) => Math.round(milliseconds);
