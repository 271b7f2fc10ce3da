import pg from 'pg';

/** Serialization failure, deadlock and lock timeout. */
const conflicts = new Set(['40001', '40P01', '55P03']);

/** Errors after which the server closes the connection. */
const disconnects = /^(08|57P0|25P0[34])/;

/** Too many connections, no memory or disk space, timeout, I/O error, read-only server. */
const shortages = /^(53|57014|58|25006)/;

/**
 * - `conflict`: the statement failed because of another transaction. The complete transaction can run again at once.
 * - `lost`: the connection cannot be used any more. The server may have executed the last statement.
 * - `shortage`: the server cannot execute the statement now.
 * - `statement`: an error of the statement or of the program.
 */
type FailureKind = 'conflict' | 'lost' | 'shortage' | 'statement';

/** `isBroken`: the connection has reported an error since the pool returned it. */
export function failureKind(error: unknown, isBroken: boolean): FailureKind {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    if (conflicts.has(code)) return 'conflict';
    if (disconnects.test(code)) return 'lost';
    if (shortages.test(code)) return 'shortage';
    return isBroken ? 'lost' : 'statement';
  }
  return isBroken || isClientFailure(error) ? 'lost' : 'statement';
}

/** Whether it is pg's own timeout, or its refusal to use a client whose connection broke before the pool returned it. */
function isClientFailure(error: unknown): boolean {
  return isQueryTimeout(error) || (error instanceof Error && error.message.endsWith(' is not queryable'));
}

/** Whether pg received no response in time. pg has no codes for its own errors. */
export function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** Whether the server refused a write because it is a standby or read-only. */
export function isReadOnly(error: pg.DatabaseError): boolean {
  return error.code === '25006';
}
