import type { Check, Report } from './results.ts';

/** Characters that XML cannot hold, not even escaped. */
// oxlint-disable-next-line no-control-regex
const unwritable = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/g;

const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(unwritable, '\ufffd');

/** The checks as JUnit XML: a suite for each operation, and one with the answers that were not provoked. */
export function junitOf({ checks, answers, passed, failed, skipped, seconds, startedAt }: Report): string {
  const operations = [...new Set(checks.map(({ operation }) => operation))];
  const suites = operations.map((name) =>
    suite(
      name,
      checks.filter(({ operation }) => operation === name),
    ),
  );
  const unseen = answers.flatMap(({ operation, status, mediaType, seen, reason = '' }): Check[] =>
    seen
      ? []
      : [
          {
            operation,
            area: 'coverage',
            name: `${operation} ${status} ${mediaType}`.trim(),
            outcome: 'skipped',
            problems: [reason],
            ms: 0,
          },
        ],
  );
  const total = passed + failed + skipped + unseen.length;
  const head = `tests="${total}" failures="${failed}" skipped="${skipped + unseen.length}" time="${seconds}" timestamp="${startedAt}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="conformance" ${head}>\n${[...suites, suite('not provoked', unseen)].join('')}</testsuites>\n`;
}

function suite(name: string, checks: readonly Check[]): string {
  const count = (outcome: Check['outcome']) => checks.filter((check) => check.outcome === outcome).length;
  const time = checks.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  const head = `name="${escaped(name)}" tests="${checks.length}" failures="${count('failed')}" skipped="${count('skipped')}" time="${time}"`;
  return `  <testsuite ${head}>\n${checks.map(testcase).join('')}  </testsuite>\n`;
}

function testcase({ operation, area, name, outcome, problems, curl, ms }: Check): string {
  const head = `    <testcase classname="${escaped(`${area}.${operation}`)}" name="${escaped(name)}" time="${ms / 1000}"`;
  if (outcome === 'passed') return `${head}/>\n`;
  const message = escaped(problems[0] ?? '');
  if (outcome === 'skipped') return `${head}><skipped message="${message}"/></testcase>\n`;
  const text = escaped([...problems, ...(curl === undefined ? [] : [curl])].join('\n'));
  return `${head}><failure message="${message}">${text}</failure></testcase>\n`;
}
