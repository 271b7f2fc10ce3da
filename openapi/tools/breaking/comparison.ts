import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../document.ts';
import { type Approval, readApprovals, withApprovedSeverity } from './approvals.ts';
import { areaFinder } from './areas.ts';
import type { Change } from './change.ts';
import { type Base, baseContract, CannotCompare, type Contract, currentContract } from './contract.ts';
import { judge } from './judge.ts';
import { type SourceChange, sourceFinder } from './source-files.ts';
import { highest, lowestVersion, type Severity } from './version.ts';

export const approvalsFile = 'openapi/approved-changes.yaml';

/** The current contract compared with a base. */
export interface Comparison {
  base: Base;
  differences: number;
  changes: (SourceChange & { area: string })[];
  approvals: Approval[];
  /** The version of the base, and the lowest version that may contain the changes. */
  baseVersion: string;
  severity: Severity | undefined;
  lowestVersion: string;
}

/**
 * Compares the contract below `root` with a base: a git ref, a folder, or the last release.
 *
 * @throws CannotCompare without such a base, or if the approvals are invalid
 */
export async function compare(root: string, named: string | undefined): Promise<Comparison> {
  const [base, next] = await Promise.all([baseContract(root, named), currentContract(root)]);
  return compareWith(root, base, next);
}

/** Compares a contract below `root` with a base. @throws CannotCompare if the approvals are invalid */
export async function compareWith(root: string, base: Base, next: Contract): Promise<Comparison> {
  const [{ differences, changes }, approvals] = await Promise.all([
    judge(base.contract, next),
    readApprovalsIn(root),
  ]);
  const place = sourceFinder(root, [next.openapi, base.contract.openapi]);
  const areaOf = areaFinder([base.contract, next]);
  return {
    base,
    differences,
    changes: changes.map((one) => ({ ...one, ...place(one), area: areaOf(one) })),
    approvals,
    ...neededVersion(versionOf(base.contract), changes, approvals),
  };
}

const versionOf = ({ openapi }: Contract): string =>
  isObject(openapi.info) && typeof openapi.info.version === 'string' ? openapi.info.version : '0.0.0';

/** The lowest version that may contain changes. An approval can lower the severity of a change. */
export function neededVersion(
  baseVersion: string,
  changes: readonly Change[],
  approvals: readonly Approval[],
): Pick<Comparison, 'baseVersion' | 'severity' | 'lowestVersion'> {
  const severity = highest(withApprovedSeverity(changes, approvals));
  const version = severity === undefined ? baseVersion : lowestVersion(baseVersion, severity);
  return { baseVersion, severity, lowestVersion: version };
}

/** Reads the approved changes. @throws CannotCompare with all mistakes */
export async function readApprovalsIn(root: string): Promise<Approval[]> {
  const text = await readFile(join(root, approvalsFile), 'utf8').catch(() => '');
  try {
    return readApprovals(text);
  } catch (error) {
    throw new CannotCompare(`${approvalsFile}: ${(error as Error).message}`);
  }
}
