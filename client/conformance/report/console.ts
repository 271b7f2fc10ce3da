import type { DocumentedOperation } from '../contract/documented.ts';
import type { Cell, Check, Report } from './results.ts';

/** One line for an operation, and each of its failures in full. */
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

/** What was covered, what it cost, and what was left behind. */
export function summary(report: Report): string {
  const { answers, events, errors, passed, failed, skipped, quota, leftovers, seed, runs } = report;
  const covered = (cells: readonly Cell[]) => `${cells.filter(({ seen }) => seen).length} of ${cells.length}`;
  const rows = [
    ['answers (operation, status, media type)', covered(answers)],
    ['events (channel, direction, message)', covered(events)],
    ['errors (family, status, code)', covered(errors)],
  ] as const;
  const unseen = [
    ...reasonsOf('answers', answers),
    ...reasonsOf('events', events),
    ...reasonsOf('errors', errors),
  ];
  return [
    '',
    ...rows.map(([what, of]) => `${what.padEnd(42)} ${of}`),
    ...unseen,
    '',
    `quota used: ${quota ?? 'the log does not tell'}`,
    ...(leftovers.length === 0 ? [] : [`left behind: ${leftovers.join('; ')}`]),
    `random requests: --runs ${runs} --seed ${seed}`,
    `${passed} passed, ${failed} failed, ${skipped} skipped in ${report.seconds} s`,
    '',
  ].join('\n');
}

/** A line for each reason why cells of a kind were not seen. */
function reasonsOf(kind: string, cells: readonly Cell[]): string[] {
  const reasons = new Map<string, number>();
  for (const { seen, reason = '' } of cells) if (!seen) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return [...reasons].map(
    ([reason, count]) => `  ${String(count).padStart(4)} ${kind} not provoked: ${reason}`,
  );
}
