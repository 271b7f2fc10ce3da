import { UnigateError } from './errors.ts';

/**
 * Throws UnigateError for an id that would lead to another path: an empty one, which leads to the list, and `.` or `..`,
 * which URLs resolve.
 */
export function checkPathIds(ids: Record<string, unknown> = {}): void {
  for (const [name, id] of Object.entries(ids)) {
    if (id === undefined || id === null || id === '') throw new UnigateError(`${name} must not be empty.`);
    if (id === '.' || id === '..') throw new UnigateError(`${name} must not be "${id}".`);
  }
}
