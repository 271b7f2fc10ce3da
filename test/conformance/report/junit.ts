import type { Check, CoverageCell, Report } from './report.ts';

/** Characters that XML cannot contain, not even escaped. */
// oxlint-disable-next-line no-control-regex
const invalidCharacters = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/g;

const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(invalidCharacters, '\ufffd');

/** Formats the checks as JUnit XML: one suite per operation, and one with the cells that are not covered. */
export function junitOf(report: Report): string {
  const { checks, passed, failed, skipped, seconds, startedAt } = report;
  const operations = [...new Set(checks.map(({ operation }) => operation))];
  const suites = operations.map((name) =>
    suite(
      name,
      checks.filter(({ operation }) => operation === name),
    ),
  );
  const uncovered = [
    ...report.responses.map((cell) =>
      row(cell, 'response', cell.operation, `${cell.status} ${cell.mediaType}`.trim()),
    ),
    ...report.events.map((cell) => row(cell, 'event', cell.channel, `${cell.direction} ${cell.message}`)),
    ...report.errors.map((cell) =>
      row(cell, 'error', cell.family, [cell.status, cell.code].join(' ').trim()),
    ),
  ].flat();
  const total = passed + failed + skipped + uncovered.length;
  const head = `tests="${total}" failures="${failed}" skipped="${skipped + uncovered.length}" time="${seconds}" timestamp="${startedAt}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="conformance" ${head}>\n${[...suites, suite('not covered', uncovered)].join('')}</testsuites>\n`;
}

/** Converts a cell that is not covered to a skipped check. */
function row({ covered, reason = '' }: CoverageCell, kind: string, of: string, name: string): Check[] {
  if (covered) return [];
  const problems = [reason];
  return [
    { operation: of, area: `coverage.${kind}`, name: `${of} ${name}`, outcome: 'skipped', problems, ms: 0 },
  ];
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
