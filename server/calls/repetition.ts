import type { IncomingHttpHeaders } from 'node:http';
import type { TaskCreation } from '../tasks/task-creation.ts';

export type Repetition = Pick<TaskCreation, 'idempotencyKey' | 'retryCount'>;

/** Returns the header that identifies a repeated request. An idempotency key takes precedence over a retry count. */
export function repetitionOf(headers: IncomingHttpHeaders): Repetition | undefined {
  const idempotencyKey = headers['idempotency-key'];
  if (typeof idempotencyKey === 'string') return { idempotencyKey };
  const retryCount = headers['x-stainless-retry-count'];
  if (typeof retryCount !== 'string' || !/^\d{1,9}$/.test(retryCount)) return undefined;
  return { retryCount: Number(retryCount) };
}
