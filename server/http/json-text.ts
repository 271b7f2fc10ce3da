import { Failure } from '../failure.ts';

/**
 * Reads JSON that a client sent. `field` is what messages call it; `revive` is that of `JSON.parse`.
 *
 * @throws Failure 400 for what is no JSON
 */
export function parseJson(
  text: string,
  field: string,
  revive?: (name: string, value: unknown) => unknown,
): unknown {
  try {
    return JSON.parse(text, revive);
  } catch (cause) {
    const reported = cause instanceof Error ? cause.message : '';
    const reason = reported.replace(/[\s"']+\.{0,3}.*is not valid JSON.*$/s, '').trim();
    const problem = `is not valid JSON${reason === '' ? '' : ` (${reason})`}.`;
    throw new Failure(400, 'invalid_request', `${field}: ${problem}`, { cause });
  }
}
