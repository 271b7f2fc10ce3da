import { StoreUnavailable } from './availability.ts';

/** Whether PostgreSQL gave up because something else kept what a statement needed. */
export function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  return cause instanceof Error && 'code' in cause && cause.code === '55P03';
}
