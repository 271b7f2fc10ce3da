/** How the database is used. Times in milliseconds. */
export interface PostgresLimits {
  /** For requests; polls and the readiness probe have a few of their own. */
  connections: number;
  /** To connect, or to wait for a free connection. */
  connectTimeoutMs: number;
  statementTimeoutMs: number;
  /** A transaction may stand still so long. */
  idleInTransactionTimeoutMs: number;
}

export const standardLimits: PostgresLimits = {
  connections: 10,
  connectTimeoutMs: 10_000,
  statementTimeoutMs: 15_000,
  idleInTransactionTimeoutMs: 15_000,
};
