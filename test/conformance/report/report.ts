/** The result of a check. */
export interface Check {
  /** Id of the operation. An alias has its own id. */
  operation: string;
  area: string;
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** Problems of a failed check, or the reason of a skipped one. */
  problems: readonly string[];
  /** Shell command that repeats the request, with the key as `$UNIGATE_API_KEY`. */
  curl?: string;
  ms: number;
}

/** A cell of the coverage table. */
export interface CoverageCell {
  /** Whether the run observed it. */
  covered: boolean;
  /** Why it is not covered. Absent if it is. */
  reason?: string;
}

/** A documented response of an operation. */
export interface ResponseCell extends CoverageCell {
  operation: string;
  status: number;
  /** Empty for a response without a body. */
  mediaType: string;
}

/** A message of a channel. */
export interface EventCell extends CoverageCell {
  channel: string;
  /** The sender. */
  direction: 'client' | 'server';
  message: string;
}

/** An error code of errors.yaml. */
export interface ErrorCell extends CoverageCell {
  family: string;
  /** Undefined for codes of failed tasks and sockets. */
  status?: number;
  code: string;
}

/** The results of a run. */
export interface Report {
  baseUrl: string;
  /** Version of the contract. */
  contract: string;
  seed: number;
  runs: number;
  startedAt: string;
  seconds: number;
  /** Whether triggers such as `[[error]]` in a prompt cause provider failures. */
  triggers: boolean;
  /** Quota that the run used, or null if the log is not available. */
  quota: number | null;
  passed: number;
  failed: number;
  skipped: number;
  checks: readonly Check[];
  responses: readonly ResponseCell[];
  events: readonly EventCell[];
  errors: readonly ErrorCell[];
  /** Resources that the run could not delete. */
  leftovers: readonly string[];
}
