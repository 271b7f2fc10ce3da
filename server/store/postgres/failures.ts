import pg from 'pg';

/** Serialization failure and deadlock: the transaction is undone and may simply run again. */
const conflicts = new Set(['40001', '40P01']);

/** The server ends the connection with these. */
const endings = /^(08|57P0|25P0[34])/;

/** Out of connections, memory or disk; canceled for its length; no lock; the disk failed; a server that only reads. */
const shortages = /^(53|57014|55P03|58|25006)/;

/**
 * - `conflict`: nothing is written, and a repeat may do better at once.
 * - `lost`: the connection is gone or in no usable state. What it was sent last may have been carried out.
 * - `shortage`: the server is there and does not carry it out for now.
 * - `fault`: of the statement or the program.
 */
export type FailureKind = 'conflict' | 'lost' | 'shortage' | 'fault';

/** `broken`: the connection was seen to break. */
export function failureKind(error: unknown, broken: boolean): FailureKind {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    if (conflicts.has(code)) return 'conflict';
    if (endings.test(code)) return 'lost';
    if (shortages.test(code)) return 'shortage';
    return broken ? 'lost' : 'fault';
  }
  return broken || isReadTimeout(error) ? 'lost' : 'fault';
}

/** pg gives it no code. */
function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
