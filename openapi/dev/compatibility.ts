import { approve } from '../tools/breaking/approvals.ts';
import { type Comparison, compareWith } from '../tools/breaking/comparison.ts';
import { type Base, baseContract, CannotCompare, type Contract } from '../tools/breaking/contract.ts';
import { affected, counted } from '../tools/breaking/formats.ts';

/** Maximum number of listed changes. Further ones are counted. */
const maxChanges = 10;

export interface Compatibility {
  /** Reports in words whether `next` breaks clients of the last release, and the version that it needs. */
  check(first: Contract, next: Contract): Promise<string[]>;
}

/**
 * Compares each state of the contract below `root` with the base of `check:breaking`, never with the previous save, so
 * that an undone change is not reported. Without a git repository, the base is `first`.
 */
export function createCompatibility(root: string): Compatibility {
  const base = async (first: Contract): Promise<Base> => {
    try {
      // A commit or a release moves the base.
      return await baseContract(root, undefined);
    } catch (error) {
      if (error instanceof CannotCompare) return { contract: first, description: 'the start' };
      throw error;
    }
  };
  return {
    async check(first, next) {
      try {
        return compatibilityLines(await compareWith(root, await base(first), next));
      } catch (error) {
        // An invalid file of approvals, or a contract that cannot be compared.
        return [`  not compared with the last release: ${(error as Error).message}`];
      }
    },
  };
}

function compatibilityLines(compared: Comparison): string[] {
  const { base, baseVersion, severity, lowestVersion } = compared;
  const { unapproved, approved, unused } = approve(compared.changes, compared.approvals);
  const version =
    severity === undefined ? '' : `; needs version ${lowestVersion} or later (${baseVersion} before)`;
  const accepted = approved.length === 0 ? '' : `, ${counted(approved.length, 'approved change')}`;
  const stale = unused.map(({ change }) => `    approved, but not found: ${change}`);
  if (unapproved.length === 0) {
    const state = severity === undefined ? 'the contract has not changed' : 'breaks no client';
    return [`  OK: ${state} since ${base.description}${accepted}${version}`, ...stale];
  }
  const more = unapproved.length - maxChanges;
  return [
    `  breaks clients since ${base.description}: ${counted(unapproved.length, 'change')}${accepted}${version}`,
    ...unapproved.slice(0, maxChanges).flatMap(({ change, operations, file, line }) => {
      const users = operations.length === 0 ? '' : ` Affects ${affected(operations)}.`;
      return [`    ${file}:${line} ${change}${users}`];
    }),
    ...(more > 0 ? [`    and ${more} more`] : []),
    ...stale,
  ];
}
