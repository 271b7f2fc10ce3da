import type { Change } from './change.ts';

export type Severity = Change['severity'];

const order: readonly Severity[] = ['patch', 'minor', 'major'];

/** The highest severity. Undefined without changes. */
export function highest(changes: readonly Pick<Change, 'severity'>[]): Severity | undefined {
  return order.findLast((severity) => changes.some((one) => one.severity === severity));
}

/**
 * The lowest version that may contain changes of a severity, by Semantic Versioning. Before 1.0.0, a breaking change
 * raises the second number and all other changes the third.
 */
export function lowestVersion(base: string, severity: Severity): string {
  const [major = 0, minor = 0, patch = 0] = numbersOf(base);
  const part = major > 0 ? severity : severity === 'major' ? 'minor' : 'patch';
  if (part === 'major') return `${major + 1}.0.0`;
  return part === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/** Compares two versions without their prerelease parts. */
export function isLower(version: string, other: string): boolean {
  const [one, two] = [numbersOf(version), numbersOf(other)];
  const index = one.findIndex((number, position) => number !== two[position]);
  return index >= 0 && (one[index] ?? 0) < (two[index] ?? 0);
}

const numbersOf = (version: string): number[] => {
  const [, ...numbers] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  return numbers.map(Number);
};
