import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { approve, readApprovals } from './approvals.ts';
import { baseContract, CannotCompare, currentContract } from './contract.ts';
import { judge } from './judge.ts';
import { sourceFinder } from './source-files.ts';

const help = `npm run check:breaking -- [--base <git ref or folder>] [--json]

Compares both current documents with the last release. Exits with 1 if a breaking change is not approved in
openapi/approved-changes.yaml, and with 2 if there is nothing to compare with.

  --base  a git ref, or a folder with openapi.json, asyncapi.json and optionally errors.yaml; default: the last tag v…,
          or the merge base with main if there is no tag
  --json  prints JSON`;

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    root: { type: 'string' },
  },
});
const root = values.root ?? fileURLToPath(new URL('../../..', import.meta.url));
const approvalsFile = 'openapi/approved-changes.yaml';

try {
  if (values.help) console.log(help);
  else process.exitCode = await check(values.base, values.json);
} catch (error) {
  console.error(error instanceof CannotCompare ? error.message : error);
  process.exitCode = 2;
}

async function check(named: string | undefined, asJson: boolean): Promise<number> {
  const [base, next] = await Promise.all([baseContract(root, named), currentContract(root)]);
  const [{ differences, breaking }, approvals] = await Promise.all([judge(base.contract, next), approved()]);
  const fileOf = sourceFinder(root, [next.openapi, base.contract.openapi]);
  const found = approve(breaking, approvals);
  const withFiles = { ...found, unapproved: found.unapproved.map((one) => ({ ...one, file: fileOf(one) })) };
  const passed = found.unapproved.length === 0 && found.unused.length === 0;
  if (asJson)
    console.log(JSON.stringify({ base: base.description, passed, differences, ...withFiles }, null, 2));
  else report(base.description, differences, withFiles);
  if (base.contract.errors === undefined)
    console.error('Error codes were not compared: the base has no errors.yaml.');
  return passed ? 0 : 1;
}

async function approved() {
  const text = await readFile(join(root, approvalsFile), 'utf8').catch(() => '');
  try {
    return readApprovals(text);
  } catch (error) {
    throw new CannotCompare(`${approvalsFile}: ${(error as Error).message}`);
  }
}

type Found = ReturnType<typeof approve>;

function report(
  base: string,
  differences: number,
  {
    unapproved,
    approved,
    unused,
  }: Omit<Found, 'unapproved'> & { unapproved: (Found['unapproved'][number] & { file: string })[] },
): void {
  console.log(`Compared with ${base}: ${differences} differences in both documents.`);
  for (const { change, file, severity, rule, at } of unapproved)
    console.log(`\n${severity}: ${change}\n  ${at} (${rule})\n  in ${file}`);
  for (const { change, reason } of approved) console.log(`\napproved: ${change}\n  ${reason}`);
  for (const { at, change } of unused)
    console.log(
      `\n${approvalsFile} approves a change that does not exist. Remove the entry:\n  ${change}\n  ${at}`,
    );
  if (unapproved.length > 0) {
    const entries = unapproved.map(({ at, change }) => ({ at, change, reason: '' }));
    console.log(
      `\n${unapproved.length} changes break clients. Add intended changes with a reason to ${approvalsFile}:\n`,
    );
    console.log(stringify(entries, { lineWidth: 0 }));
  } else if (unused.length === 0)
    console.log(approved.length > 0 ? '\nNo other change breaks clients.' : 'No change breaks clients.');
}
