import { Failure, invalid } from '../failure.ts';

/** Far more than any request has, and far less than what those who walk or write it could stumble over. */
const deepest = 100;

/**
 * Reads JSON that a client sent. `field` is what messages call it.
 *
 * @throws Failure 400 for what is no JSON, and for objects and lists nested too deep
 */
export function parseJson(text: string, field: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const told = cause instanceof Error ? cause.message : '';
    const reason = told.replace(/[\s"']+\.{0,3}.*is not valid JSON.*$/s, '').trim();
    const problem = `is not valid JSON${reason === '' ? '' : ` (${reason})`}.`;
    throw new Failure(400, 'invalid_request', `${field}: ${problem}`, { cause });
  }
  requireShallow(value, field);
  return value;
}

/** Level by level, so that it cannot stumble itself. */
function requireShallow(value: unknown, field: string): void {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) throw invalid(field, `is nested deeper than ${deepest} levels.`);
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.values(one).filter(isNested) : [],
    );
  }
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
