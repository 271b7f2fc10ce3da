import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { approve, readApprovals } from './approvals.ts';
import { baseContract, CannotJudge, currentContract } from './contract.ts';
import { judge } from './judge.ts';
import { sourceFinder } from './source-files.ts';

const help = `npm run check:breaking -- [--base <git ref or folder>] [--json]

Compares both documents as they are now with the last released ones, and exits with 1 when a change breaks clients and is
not approved in openapi/approved-changes.yaml, and with 2 when there is nothing to compare with.

  --base  a git ref, or a folder with openapi.json, asyncapi.json and perhaps errors.yaml; default: the last tag v…, or,
          while there is none, where the branch has left main
  --json  for machines`;

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
  console.error(error instanceof CannotJudge ? error.message : error);
  process.exitCode = 2;
}

async function check(named: string | undefined, asJson: boolean): Promise<number> {
  const [base, next] = await Promise.all([baseContract(root, named), currentContract(root)]);
  const [{ differences, breaking }, approvals] = await Promise.all([judge(base.contract, next), approved()]);
  const fileOf = sourceFinder(root, [next.openapi, base.contract.openapi]);
  const found = approve(breaking, approvals);
  const withFiles = { ...found, unapproved: found.unapproved.map((one) => ({ ...one, file: fileOf(one) })) };
  const passed = found.unapproved.length === 0 && found.idle.length === 0;
  if (asJson) console.log(JSON.stringify({ base: base.words, passed, differences, ...withFiles }, null, 2));
  else report(base.words, differences, withFiles);
  if (base.contract.errors === undefined)
    console.error('Error codes were not compared: the base has no errors.yaml.');
  return passed ? 0 : 1;
}

async function approved() {
  const text = await readFile(join(root, approvalsFile), 'utf8').catch(() => '');
  try {
    return readApprovals(text);
  } catch (error) {
    throw new CannotJudge(`${approvalsFile}: ${(error as Error).message}`);
  }
}

type Found = ReturnType<typeof approve>;

function report(
  base: string,
  differences: number,
  {
    unapproved,
    approved,
    idle,
  }: Omit<Found, 'unapproved'> & { unapproved: (Found['unapproved'][number] & { file: string })[] },
): void {
  console.log(`Compared with ${base}: ${differences} differences in both documents.`);
  for (const { change, file, severity, rule, at } of unapproved)
    console.log(`\n${severity}: ${change}\n  ${at} (${rule})\n  look at ${file}`);
  for (const { change, reason } of approved) console.log(`\napproved: ${change}\n  ${reason}`);
  for (const { at, change } of idle)
    console.log(
      `\n${approvalsFile} approves what is no breaking change, so take it out:\n  ${change}\n  ${at}`,
    );
  if (unapproved.length > 0) {
    const entries = unapproved.map(({ at, change }) => ({ at, change, reason: '' }));
    console.log(
      `\n${unapproved.length} changes break clients. What is meant goes with its reason into ${approvalsFile}:\n`,
    );
    console.log(stringify(entries, { lineWidth: 0 }));
  } else if (idle.length === 0)
    console.log(approved.length > 0 ? '\nNothing else breaks clients.' : 'Nothing breaks clients.');
}
