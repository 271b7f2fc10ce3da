/** Limits of the use of PostgreSQL. Times in milliseconds. */
export interface PostgresLimits {
  /** Connections for requests. Polls and the readiness probe have their own. */
  connections: number;
  /** Time to connect or to wait for a free connection. */
  connectTimeoutMs: number;
  statementTimeoutMs: number;
  idleInTransactionTimeoutMs: number;
}

export const standardLimits: PostgresLimits = {
  connections: 10,
  connectTimeoutMs: 10_000,
  statementTimeoutMs: 15_000,
  idleInTransactionTimeoutMs: 15_000,
};
