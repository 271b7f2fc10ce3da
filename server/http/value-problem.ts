import { invalid } from '../lib/failure.ts';

/** Much deeper than any valid request, and shallow enough for recursive code. */
const maxDepth = 100;
/** Bounds error messages, which name fields, in characters. */
const maxNameLength = 1_024;

/** PostgreSQL cannot store NUL. The others are meaningless in speech, search and display. */
const control = /[\p{Cc}--[\t\n\r\x7f-\x9f]]/v;

/**
 * Rejects control characters and lone surrogates in texts and names, infinite numbers, and too deep nesting. `whole` is
 * the name of the value in messages. Texts longer than `maxLength` were checked before.
 *
 * @throws Failure 400 that names the field
 */
export function requirePlainValues(
  value: unknown,
  whole: string,
  maxLength = Number.POSITIVE_INFINITY,
): void {
  const problem = valueProblem(value, maxLength);
  if (problem !== undefined) throw invalid(problem.field === '' ? whole : problem.field, problem.message);
}

/** Returns the first problem that `requirePlainValues` reports. `field` is empty when it concerns the whole value. */
export function valueProblem(
  value: unknown,
  maxLength = Number.POSITIVE_INFINITY,
): { field: string; message: string } | undefined {
  const found = find(value, 0, maxLength);
  return found && { field: (found.path ?? []).toReversed().join('.'), message: found.message };
}

/** Describes why a text is invalid. Undefined if it is valid. */
function textProblem(text: string): string | undefined {
  const [found] = control.exec(text) ?? [];
  if (found !== undefined) {
    const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `must not contain control characters except tab and line breaks; found U+${code}.`;
  }
  return text.isWellFormed() ? undefined : 'must not contain a lone surrogate (half of a character).';
}

/** `path` has the innermost name first. Without it, the problem concerns the whole value. */
type Found = { path?: string[]; message: string };

function find(value: unknown, depth: number, maxLength: number): Found | undefined {
  if (typeof value === 'string') return value.length > maxLength ? undefined : foundOf(textProblem(value));
  if (typeof value === 'number')
    return foundOf(Number.isFinite(value) ? undefined : 'must be a finite number.');
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > maxDepth) return { message: `is nested deeper than ${maxDepth} levels.` };
  const list = Array.isArray(value);
  for (const name in value) {
    if (!list && name.length > maxNameLength)
      return foundOf(`has a field whose name is longer than ${maxNameLength} characters.`);
    if (!list && textProblem(name) !== undefined)
      return foundOf('has a field whose name contains a control character or a lone surrogate.');
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
