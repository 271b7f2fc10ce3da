import { randomUUID } from 'node:crypto';

/** Hexadecimal digits at the end of a UUID that count the clips of a task. */
const digits = 2;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A UUID with room for those of the task's clips beside it: a clip's id leads to its task without an index. */
export function newTaskId(): string {
  return withCount(randomUUID(), 0);
}

/** Id of a task's clip; `index` counts from 0. */
export function clipIdOf(taskId: string, index: number): string {
  return withCount(taskId, index + 1);
}

/** The task and the clip that an id names, of a task its first clip; undefined when it is none of ours. */
export function placeOfClip(id: string): { taskId: string; index: number } | undefined {
  if (!uuid.test(id)) return undefined;
  const count = Number.parseInt(id.slice(-digits), 16);
  return { taskId: withCount(id, 0), index: Math.max(0, count - 1) };
}

function withCount(id: string, count: number): string {
  return id.slice(0, -digits) + count.toString(16).padStart(digits, '0');
}
