import { type ErrorEntry, statusesOf } from '../errors.ts';
import { cell } from './markdown-text.ts';

const repeats = {
  never: 'No. The same request fails again.',
  now: 'Yes, at once.',
  later: 'Yes, after the number of seconds in `retry-after`, or after a short pause.',
};

/** Returns the error catalog as Markdown, with one heading per code (`#<code>`). */
export function errorsMarkdown(entries: readonly ErrorEntry[]): string {
  const codes = [...new Set(entries.map(({ code }) => code))];
  const sections = codes.map((code) => {
    const cases = entries.filter((entry) => entry.code === code).map(described);
    return `## \`${code}\` {#${code}}\n\n${cases.join('\n\n')}`;
  });
  return `# Errors

Every error code of the gateway. If a provider refuses a request or fails a task, the error has the provider's own code.
Bodies of management errors contain only the message, so their code is not sent. Each response carries \`x-request-id\`. Include it in
support requests.

${sections.join('\n\n')}
`;
}

function described(entry: ErrorEntry): string {
  const statuses = statusesOf(entry);
  const rows = [
    ['Status', statuses.length === 0 ? 'none (part of a task or an event)' : statuses.join(', ')],
    ['Where', entry.families.join(', ')],
    ['When', entry.when],
    ['What to do', entry.remedy],
    ['Retry', repeats[entry.retry]],
  ];
  const [first = [], ...others] = rows.map((row) => `| ${row.map(cell).join(' | ')} |`);
  return [first, '|---|---|', ...others].join('\n');
}
