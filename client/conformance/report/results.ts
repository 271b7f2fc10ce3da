/** What became of one check. */
export interface Check {
  /** Id of the operation, that of its own for one under another prefix. */
  operation: string;
  area: string;
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** What was wrong; of a skipped check the one reason. */
  problems: readonly string[];
  /** The request to repeat, as a line for a shell; the key stands in it as `$UNIGATE_API_KEY`. */
  curl?: string;
  ms: number;
}

/** One cell of the table: whether the server was seen to do it, and if not, why. */
export interface Cell {
  seen: boolean;
  /** Why it was not provoked; left out of what was seen. */
  reason?: string;
}

/** An answer that an operation documents. */
export interface AnswerCell extends Cell {
  operation: string;
  status: number;
  /** Empty for an answer without a body. */
  mediaType: string;
}

/** A message of a channel. */
export interface EventCell extends Cell {
  channel: string;
  /** Who sends it. */
  direction: 'client' | 'server';
  message: string;
}

/** A code of the catalogue. */
export interface ErrorCell extends Cell {
  family: string;
  /** Undefined where no answer of HTTP carries it: in failed tasks and on sockets. */
  status?: number;
  code: string;
}

/** All that a run found out. */
export interface Report {
  baseUrl: string;
  /** Version of the contract that the server was held to. */
  contract: string;
  seed: number;
  runs: number;
  startedAt: string;
  seconds: number;
  /** Whether the server was taken to honour the words that make a sandbox fail. */
  triggers: boolean;
  /** Quota that the run has cost; null when the log does not tell. */
  quota: number | null;
  passed: number;
  failed: number;
  skipped: number;
  checks: readonly Check[];
  answers: readonly AnswerCell[];
  events: readonly EventCell[];
  errors: readonly ErrorCell[];
  /** What could not be cleaned up. */
  leftovers: readonly string[];
}
