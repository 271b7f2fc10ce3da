import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { type Approved, approve } from './approvals.ts';
import { approvalsFile, type Comparison, compare } from './comparison.ts';
import { CannotCompare, NoHistory } from './contract.ts';
import { affected, counted, markdown, sarif } from './formats.ts';
import type { SourceChange } from './source-files.ts';

const help = `npm run check:breaking -- [--base <git ref or folder>] [--format <format>]

Compares both current documents with the last release. Exits with 1 if a breaking change is not approved in
openapi/approved-changes.yaml, and with 2 if there is nothing to compare with. Without --base, sources outside of a git
repository pass.

  --base    a git ref, or a folder with openapi.json, asyncapi.json and optionally errors.yaml; default: the last tag v…,
            or the merge base with main if there is no tag
  --format  text, json, sarif (the annotations of a code host) or markdown (a comment for a pull request); default: text
  --json    the same as --format json`;

const formats = ['text', 'json', 'sarif', 'markdown'];

try {
  process.exitCode = await main();
} catch (error) {
  const isExpected = error instanceof CannotCompare || (error instanceof Error && 'code' in error);
  console.error(isExpected ? error.message : error);
  process.exitCode = error instanceof NoHistory ? 0 : 2;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      format: { type: 'string', default: 'text' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      root: { type: 'string' },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const format = values.json ? 'json' : values.format;
  if (!formats.includes(format))
    throw new CannotCompare(`--format must be one of ${formats.join(', ')}, not ${format}.`);
  const root = values.root ?? fileURLToPath(new URL('../../..', import.meta.url));
  const compared = await compare(root, values.base);
  const found = approve(compared.changes, compared.approvals);
  print(format, root, compared, found);
  if (compared.base.contract.errors === undefined)
    console.error('Error codes were not compared: the base has no errors.yaml.');
  return found.unapproved.length === 0 && found.unused.length === 0 ? 0 : 1;
}

function print(format: string, root: string, compared: Comparison, found: Approved<SourceChange>): void {
  const { differences, baseVersion, lowestVersion, severity } = compared;
  const base = compared.base.description;
  const passed = found.unapproved.length === 0 && found.unused.length === 0;
  const json = (value: object) => console.log(JSON.stringify(value, null, 2));
  if (format === 'json')
    json({ base, passed, differences, baseVersion, severity: severity ?? null, lowestVersion, ...found });
  else if (format === 'sarif') json(sarif({ base, ...found }, root));
  else if (format === 'markdown') console.log(markdown({ base, ...found }, versionWords(compared)));
  else report(compared, found);
}

function versionWords({ baseVersion, lowestVersion, severity }: Comparison): string {
  return severity === undefined
    ? 'The contract has not changed.'
    : `The next version after ${baseVersion} must be ${lowestVersion} or later.`;
}

function report(compared: Comparison, { unapproved, approved, unused }: Approved<SourceChange>): void {
  const { base, differences } = compared;
  console.log(`Compared with ${base.description}: ${counted(differences, 'difference')} in both documents.`);
  for (const { change, file, line, severity, rule, at, operations } of unapproved)
    console.log(
      `\n${severity}: ${change}\n  ${at} (${rule})\n  in ${file}:${line}${operations.length === 0 ? '' : `\n  affects ${affected(operations)}`}`,
    );
  for (const { change, reason } of approved) console.log(`\napproved: ${change}\n  ${reason}`);
  for (const { at, change } of unused)
    console.log(
      `\n${approvalsFile} approves a change that does not exist. Remove the entry:\n  ${change}\n  ${at}`,
    );
  const early = unapproved.filter(({ sunset }) => sunset !== undefined);
  if (early.length > 0)
    console.log(
      `\n${counted(early.length, 'removal')} before the sunset date cannot be approved. Keep the deprecated elements until then.`,
    );
  const entries = unapproved
    .filter(({ sunset }) => sunset === undefined)
    .map(({ at, change }) => ({ at, change, reason: '' }));
  if (entries.length > 0) {
    console.log(
      `\n${counted(entries.length, 'change')} can break clients. Add intended changes with a reason to ${approvalsFile}:\n`,
    );
    console.log(stringify(entries, { lineWidth: 0 }));
  }
  if (unapproved.length === 0 && unused.length === 0)
    console.log(approved.length > 0 ? '\nNo other change breaks clients.' : 'No change breaks clients.');
  if (compared.severity !== undefined) console.log(versionWords(compared));
}
