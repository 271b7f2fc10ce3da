import { errorProblems } from './uncovered-errors.ts';

/** The result of a test. */
export interface TestResult {
  fullName: string;
  state: 'passed' | 'failed' | 'skipped' | 'pending';
  /** Errors of the contract that the test caused. */
  errors?: readonly string[] | undefined;
}

/** The smallest number of tests of a complete run. Fewer mean that some were lost. Raise it with the number of tests. */
const minTests = 8_000;

/** How many tests that did not run are listed by name. */
const maxNamed = 20;

/** Part of the title of a test that runs on both engines. */
const onSqlite = / on sqlite\b/;
const onPostgres = / on postgres\b/;

/** Lines with the names of tests. */
function listed(label: string, names: readonly string[]): string[] {
  const lines = names.slice(0, maxNamed).map((name) => `${label}: ${name}`);
  return names.length > maxNamed ? [...lines, `${label}: ${names.length - maxNamed} more`] : lines;
}

/**
 * Returns the closing lines of a run, the last one with its counts, and whether the run is valid. A complete run is not
 * valid with fewer than `least` tests, or when no test caused an error of the contract. Tests that were skipped, or that
 * ran on SQLite only, count as tests.
 */
export function tally(
  results: readonly TestResult[],
  { isComplete = true, least = minTests, problemsOf = errorProblems } = {},
): { lines: string[]; isValid: boolean } {
  const names = new Set(results.map(({ fullName }) => fullName));
  const count = (wanted: TestResult['state']) => results.filter(({ state }) => state === wanted).length;
  const [passed, failed] = [count('passed'), count('failed')];
  const skipped = results.filter(({ state }) => state === 'skipped' || state === 'pending');
  const missing = [...names].filter(
    (name) => onSqlite.test(name) && !names.has(name.replace(onSqlite, ' on postgres')),
  );
  const lines = listed(
    'skipped',
    skipped.map(({ fullName }) => fullName),
  );
  const postgresAnswered = [...names].some((name) => onPostgres.test(name));
  if (postgresAnswered) lines.push(...listed('not run on PostgreSQL', missing));
  else if (missing.length > 0)
    lines.push(
      `not run: ${missing.length} tests on PostgreSQL, which did not answer; they ran on SQLite only`,
    );
  const known = results.length + missing.length;
  const problems: string[] = [];
  if (isComplete) {
    if (known < least) problems.push(`there are ${known} tests instead of at least ${least}: some were lost`);
    problems.push(...problemsOf(new Set(results.flatMap(({ errors }) => errors ?? []))));
  }
  const counts = [
    `${passed} passed`,
    `${failed} failed`,
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
    ...(missing.length > 0 ? [`${missing.length} not run`] : []),
  ];
  return { lines: [...lines, ...problems, counts.join(', ')], isValid: problems.length === 0 };
}
