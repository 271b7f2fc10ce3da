import { randomUUID } from 'node:crypto';

/** Number of hexadecimal digits at the end of a UUID that contain the clip number. */
const countDigits = 2;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Creates the id of a task: a UUID whose last digits are 0. The ids of its clips differ only in these digits, so no
 * index is needed.
 */
export function createTaskId(): string {
  return withCount(randomUUID(), 0);
}

/** Returns the id of a clip of a task. `index` starts at 0. */
export function createClipId(taskId: string, index: number): string {
  return withCount(taskId, index + 1);
}

/**
 * Returns the task and the clip of an id. The id of a task refers to its first clip. Returns undefined for an id of
 * another form.
 */
export function parseClipId(id: string): { taskId: string; index: number } | undefined {
  if (!uuid.test(id)) return undefined;
  const count = Number.parseInt(id.slice(-countDigits), 16);
  return { taskId: withCount(id, 0), index: Math.max(0, count - 1) };
}

function withCount(id: string, count: number): string {
  return id.slice(0, -countDigits) + count.toString(16).padStart(countDigits, '0');
}
