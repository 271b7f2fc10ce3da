import { invalid } from '../lib/failure.ts';

/** Far more than any request has, and far less than what those who walk or write it could stumble over. */
const maxDepth = 100;

/** PostgreSQL keeps no NUL, and nobody speaks, shows or searches the others. */
const control = /[\p{Cc}--[\t\n\r\x7f-\x9f]]/v;

/**
 * Refuses what no field of a request may hold, whatever it is for: control characters and halves of characters, in
 * names too, numbers that are infinite, and objects and lists nested too deep. `whole` is the name of the value; texts
 * of more than `longest` characters are known to be plain.
 *
 * @throws Failure 400 that names the field
 */
export function requirePlain(value: unknown, whole: string, maxLength = Number.POSITIVE_INFINITY): void {
  const problem = valueProblem(value, maxLength);
  if (problem !== undefined) throw invalid(problem.field === '' ? whole : problem.field, problem.message);
}

/** What `requirePlain` has against a value; `field` is empty where it is about the whole. */
export function valueProblem(
  value: unknown,
  maxLength = Number.POSITIVE_INFINITY,
): { field: string; message: string } | undefined {
  const found = find(value, 0, maxLength);
  return found && { field: (found.path ?? []).toReversed().join('.'), message: found.message };
}

/** What no text may hold. */
export function textProblem(text: string): string | undefined {
  const [found] = control.exec(text) ?? [];
  if (found !== undefined) {
    const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `must hold no control character, here U+${code}, but tab and line breaks.`;
  }
  return text.isWellFormed() ? undefined : 'must hold no half of a character (a lone surrogate).';
}

/** The path is built on the way back, innermost name first; without one it is about the whole value. */
type Found = { path?: string[]; message: string };

function find(value: unknown, depth: number, maxLength: number): Found | undefined {
  if (typeof value === 'string') return value.length > maxLength ? undefined : foundOf(textProblem(value));
  if (typeof value === 'number')
    return foundOf(Number.isFinite(value) ? undefined : 'must be a finite number.');
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > maxDepth) return { message: `is nested deeper than ${maxDepth} levels.` };
  // A list has no names to look at.
  const list = Array.isArray(value);
  for (const name in value) {
    if (!list && textProblem(name) !== undefined)
      return foundOf('has a field whose name holds a control character or half of a character.');
    const found = find(Reflect.get(value, name), depth + 1, maxLength);
    if (found === undefined) continue;
    found.path?.push(name);
    return found;
  }
  return undefined;
}

function foundOf(message: string | undefined): Found | undefined {
  return message === undefined ? undefined : { path: [], message };
}
