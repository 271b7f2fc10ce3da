import { errorProblems } from './uncovered-errors.ts';

/** What the runner reports, as far as it is counted here. */
export interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: readonly {
    assertionResults: readonly { status: string; fullName: string; meta?: { errors?: readonly string[] } }[];
  }[];
}

/** What several runners report, as of one. */
export const together = (reports: readonly Report[]): Report => ({
  numPassedTests: reports.reduce((sum, { numPassedTests }) => sum + numPassedTests, 0),
  numFailedTests: reports.reduce((sum, { numFailedTests }) => sum + numFailedTests, 0),
  testResults: reports.flatMap(({ testResults }) => testResults),
});

/** What a program says that is one test by itself. */
export const asReport = (fullName: string, passed: boolean): Report => ({
  numPassedTests: passed ? 1 : 0,
  numFailedTests: passed ? 0 : 1,
  testResults: [{ assertionResults: [{ status: passed ? 'passed' : 'failed', fullName }] }],
});

/** Fewer tests than this mean that some were lost, whoever counts: raise it when there are many more. */
export const minTests = 8_000;

/** Skipped tests that are named one by one. */
const maxNamed = 20;

/** Tests of both engines stand under a title with the engine in it. */
const onSqlite = / on sqlite\b/;

/**
 * The closing lines of a run, the last one with its numbers, and whether the run counts: not when there are fewer
 * tests than there must be, those included that were skipped and the twins of tests that ran on one engine only, or when an error
 * of the contract was not brought about.
 */
export function tally(
  report: Report,
  fewest = minTests,
  problemsOf: (recorded: ReadonlySet<string>) => string[] = errorProblems,
): { lines: string[]; counts: boolean } {
  const all = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const names = new Set(all.map(({ fullName }) => fullName));
  const skipped = all
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ fullName }) => fullName);
  const missing = [...names].filter(
    (name) => onSqlite.test(name) && !names.has(name.replace(onSqlite, ' on postgres')),
  );
  const lines = skipped.slice(0, maxNamed).map((name) => `skipped: ${name}`);
  if (skipped.length > maxNamed) lines.push(`skipped: ${skipped.length - maxNamed} more`);
  if (missing.length > 0)
    lines.push(
      `not run: ${missing.length} tests on PostgreSQL, which did not answer; they ran on SQLite only`,
    );
  const known = all.length + missing.length;
  if (known < fewest) lines.push(`there are ${known} tests, and there must be ${fewest}: some were lost`);
  const problems = problemsOf(new Set(all.flatMap(({ meta }) => meta?.errors ?? [])));
  lines.push(...problems);
  const numbers = [
    `${report.numPassedTests} passed`,
    `${report.numFailedTests} failed`,
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
    ...(missing.length > 0 ? [`${missing.length} not run`] : []),
  ];
  return { lines: [...lines, numbers.join(', ')], counts: known >= fewest && problems.length === 0 };
}
