import { StoreUnavailable } from './availability.ts';

/** Whether PostgreSQL canceled a statement because a lock was not released within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  return cause instanceof Error && 'code' in cause && cause.code === '55P03';
}
