import { pathToFileURL } from 'node:url';
import type { Approved } from './approvals.ts';
import type { SourceChange } from './source-files.ts';

/** Maximum number of operations in a line. Further ones are counted. */
const maxOperations = 5;

/** The operations that a change affects, in words. An empty string without any. */
export function affected(operations: readonly string[]): string {
  if (operations.length === 0) return '';
  const more = operations.length - maxOperations;
  const names = operations.slice(0, maxOperations).join(', ');
  return more > 0 ? `${names} and ${more} more operations` : names;
}

interface Checked extends Approved<SourceChange> {
  /** Description of the base. */
  base: string;
}

/** Renders breaking changes as SARIF 2.1.0, which code hosts show at the lines of a pull request. */
export function sarif({ unapproved, approved }: Checked, root: string): object {
  const results = [
    ...unapproved.map((one) => ({ one, suppressions: [] as object[] })),
    ...approved.map((one) => ({
      one,
      suppressions: [{ kind: 'external', status: 'accepted', justification: one.reason }],
    })),
  ];
  const rules = [...new Set(results.map(({ one }) => one.rule))].sort();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'unigate check:breaking',
            rules: rules.map((id) => ({ id, shortDescription: { text: id.replaceAll('-', ' ') } })),
          },
        },
        originalUriBaseIds: { ROOT: { uri: `${pathToFileURL(root).href.replace(/\/$/, '')}/` } },
        results: results.map(({ one, suppressions }) => ({
          ruleId: one.rule,
          level: 'error',
          message: { text: withOperations(one) },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: one.file, uriBaseId: 'ROOT' },
                region: { startLine: one.line },
              },
              logicalLocations: [{ fullyQualifiedName: one.at }],
            },
          ],
          partialFingerprints: { change: `${one.rule} ${one.at} ${one.change}` },
          suppressions,
        })),
      },
    ],
  };
}

const withOperations = ({ change, operations }: SourceChange) =>
  operations.length === 0 ? change : `${change} Affected: ${affected(operations)}.`;

/** Renders breaking changes as a Markdown comment for a pull request. */
export function markdown({ base, unapproved, approved, unused }: Checked, version: string): string {
  const rows = (changes: readonly SourceChange[], last: (one: SourceChange) => string) =>
    changes.map(
      (one) =>
        `| ${cell(one.change)} | ${cell(affected(one.operations))} | \`${one.file}:${one.line}\` | ${cell(last(one))} |`,
    );
  const table = (title: string, head: string, lines: readonly string[]) =>
    lines.length === 0
      ? []
      : ['', `### ${title}`, '', `| Change | Operations | Source | ${head} |`, '|---|---|---|---|', ...lines];
  const reasons = new Map(approved.map((one) => [`${one.at} ${one.change}`, one.reason]));
  return [
    unapproved.length === 0
      ? '## The contract breaks no client'
      : `## The contract breaks clients: ${counted(unapproved.length, 'change')}`,
    '',
    `Compared with ${base}. ${version}`,
    ...table(
      'Breaking changes',
      'Rule',
      rows(unapproved, ({ rule }) => `\`${rule}\``),
    ),
    ...table(
      'Approved changes',
      'Reason',
      rows(approved, ({ at, change }) => reasons.get(`${at} ${change}`) ?? ''),
    ),
    ...(unused.length === 0
      ? []
      : [
          '',
          '### Approvals without a change',
          '',
          ...unused.map(({ at, change }) => `- \`${at}\`: ${change}`),
        ]),
    '',
  ].join('\n');
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
