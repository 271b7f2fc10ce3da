import type { DocumentedOperation } from '../contract/documented.ts';
import type { Check, CoverageCell, Report } from './report.ts';

/** Formats one line for an operation, followed by its failures. */
export function operationLines({ id }: DocumentedOperation, checks: readonly Check[]): string {
  const count = (outcome: Check['outcome']) => checks.filter((check) => check.outcome === outcome).length;
  const seconds = (checks.reduce((sum, { ms }) => sum + ms, 0) / 1000).toFixed(1);
  const counts = [`${count('passed')} passed`];
  if (count('failed') > 0) counts.push(`${count('failed')} FAILED`);
  if (count('skipped') > 0) counts.push(`${count('skipped')} skipped`);
  const head = `${id.padEnd(32)} ${counts.join(', ')} (${seconds} s)\n`;
  return (
    head +
    checks
      .filter(({ outcome }) => outcome === 'failed')
      .map(failure)
      .join('')
  );
}

function failure({ name, problems, curl }: Check): string {
  const shown = problems.slice(0, 10);
  const rest = problems.length - shown.length;
  const lines = [
    ...shown,
    ...(rest > 0 ? [`and ${rest} more, see the report`] : []),
    ...(curl ? [curl] : []),
  ];
  return `  ✗ ${name}\n${lines.map((line) => `    ${line.replaceAll('\n', '\n    ')}\n`).join('')}`;
}

/** Formats the coverage, the cost and the remaining resources of a run. */
export function summary(report: Report): string {
  const { responses, events, errors, passed, failed, skipped, quota, leftovers, seed, runs } = report;
  const count = (cells: readonly CoverageCell[]) =>
    `${cells.filter(({ covered }) => covered).length} of ${cells.length}`;
  const rows = [
    ['responses (operation, status, media type)', count(responses)],
    ['events (channel, direction, message)', count(events)],
    ['errors (family, status, code)', count(errors)],
  ] as const;
  const uncovered = [
    ...reasonsOf('responses', responses),
    ...reasonsOf('events', events),
    ...reasonsOf('errors', errors),
  ];
  return [
    '',
    ...rows.map(([title, counts]) => `${title.padEnd(42)} ${counts}`),
    ...uncovered,
    '',
    `quota used: ${quota ?? 'unknown'}`,
    ...(leftovers.length === 0 ? [] : [`not deleted: ${leftovers.join('; ')}`]),
    `random requests: --runs ${runs} --seed ${seed}`,
    `${passed} passed, ${failed} failed, ${skipped} skipped in ${report.seconds} s`,
    '',
  ].join('\n');
}

/** Formats one line for each reason why cells of a kind are not covered. */
function reasonsOf(kind: string, cells: readonly CoverageCell[]): string[] {
  const reasons = new Map<string, number>();
  for (const { covered, reason = '' } of cells)
    if (!covered) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return [...reasons].map(
    ([reason, count]) => `  ${String(count).padStart(4)} ${kind} not covered: ${reason}`,
  );
}
