import { randomBytes } from 'node:crypto';

/** A public task id: `task_` and 128 random bits. It tells nothing and cannot be guessed. */
export function newTaskId(): string {
  return `task_${randomBytes(16).toString('hex')}`;
}
