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

/**
 * Formats the checks as JUnit XML: one suite per operation. A suite without tests has a property for each part of the
 * contract that is not covered.
 */
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
  const head = `tests="${passed + failed + skipped}" failures="${failed}" skipped="${skipped}" time="${seconds}" timestamp="${startedAt}"`;
  const coverage = `  <testsuite name="coverage" tests="0" failures="0" skipped="0" time="0">\n    <properties>\n${uncovered.join('')}    </properties>\n  </testsuite>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="conformance" ${head}>\n${[...suites, coverage].join('')}</testsuites>\n`;
}

/** Formats a cell that is not covered as a property with the reason. */
function row({ covered, reason = '' }: CoverageCell, kind: string, of: string, name: string): string[] {
  if (covered) return [];
  return [
    `      <property name="${escaped(`not covered: ${kind} ${of} ${name}`)}" value="${escaped(reason)}"/>\n`,
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
