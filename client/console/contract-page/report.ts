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

/** Reads a report. Throws if the text is not one. */
export function readReport(text: string): Report {
  let report: Partial<Report> | null;
  try {
    report = JSON.parse(text) as Partial<Report> | null;
  } catch (cause) {
    throw new Error('The file is not JSON. Choose the file that --report wrote.', { cause });
  }
  if (!Array.isArray(report?.checks) || !Array.isArray(report.responses) || report.baseUrl === undefined)
    throw new Error('The file is not a report of the conformance kit. Choose the file that --report wrote.');
  return report as Report;
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
