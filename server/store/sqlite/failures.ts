import { StoreUnavailable } from '../unavailable.ts';

/** Busy, locked, out of memory, failing, full, not to be opened: it may work later. */
const passing = new Set([5, 6, 7, 10, 13, 14]);

/** The error as a `StoreUnavailable` when it is about the file or its disk, and not about the statement. */
export function sqliteFailure(error: unknown): unknown {
  const { errcode } = error as { errcode?: unknown };
  // The lower byte is the kind, the rest says more.
  return typeof errcode === 'number' && passing.has(errcode & 0xff) ? new StoreUnavailable(error) : error;
}
