/** The result of a check of the conformance kit, as in the file that `--report` writes. */
export interface Check {
  operation: string;
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  problems: readonly string[];
  /** Shell command that repeats the request, without the key. */
  curl?: string;
}

/** A report of the conformance kit. */
export interface Report {
  baseUrl: string;
  contract: string;
  startedAt: string;
  seconds: number;
  passed: number;
  failed: number;
  skipped: number;
  checks: readonly Check[];
  responses: readonly { operation: string; covered: boolean }[];
}

/** A change of the contract. */
interface ContractChange {
  severity: 'major' | 'minor' | 'patch';
  /** Description of the change. */
  change: string;
  /** Ids of the affected operations. */
  operations: readonly string[];
}

/** The changes since a base, as in the file that `npm run changelog -- --json` writes. */
export interface ContractChanges {
  base: string;
  baseVersion: string;
  /** Lowest version that the changes need. */
  lowestVersion: string;
  areas: Readonly<Record<string, readonly ContractChange[]>>;
}

/** Reads a report of the conformance kit. Throws if the text is not one. */
export function readReport(text: string): Report {
  const report = parse<Report>(text);
  if (!Array.isArray(report?.checks) || !Array.isArray(report.responses) || report.baseUrl === undefined)
    throw new Error('The file is not a report of the conformance kit. Choose the file that --report wrote.');
  return report as Report;
}

/** Reads a list of changes. Throws if the text is not one. */
export function readChanges(text: string): ContractChanges {
  const changes = parse<ContractChanges>(text);
  if (typeof changes?.areas !== 'object' || changes.lowestVersion === undefined)
    throw new Error('The file is not a list of changes. Choose the file that the command wrote.');
  return changes as ContractChanges;
}

function parse<Content>(text: string): Partial<Content> | null {
  try {
    return JSON.parse(text) as Partial<Content> | null;
  } catch (cause) {
    throw new Error('The file is not JSON. Choose the file that the command wrote.', { cause });
  }
}

/** Coverage of an operation: its documented responses that the run observed, and its failed checks. */
export interface OperationCoverage {
  covered: number;
  documented: number;
  failed: number;
}

/** Returns the coverage by operation. */
export function coverageOf({ checks, responses }: Report): Map<string, OperationCoverage> {
  const result = new Map<string, OperationCoverage>();
  const entry = (operation: string) => {
    const known = result.get(operation) ?? { covered: 0, documented: 0, failed: 0 };
    result.set(operation, known);
    return known;
  };
  for (const { operation, covered } of responses) {
    const coverage = entry(operation);
    coverage.documented += 1;
    coverage.covered += covered ? 1 : 0;
  }
  for (const { operation, outcome } of checks) if (outcome === 'failed') entry(operation).failed += 1;
  return result;
}
