import { invalid } from '../../server/lib/failure.ts';
import type { DocumentedOperation } from '../conformance/contract/documented.ts';

/** What a `Prefer` header asks for: a documented status, one of its examples, or made-up values. */
export interface Preference {
  status: number | undefined;
  example: string | undefined;
  /** Whether the values are made up; undefined when it does not say. */
  dynamic: boolean | undefined;
  /** For values that are made up: the same again with the same. */
  seed: string | undefined;
}

/**
 * Reads `Prefer: code=429`, `Prefer: code=200, example=queued` or `Prefer: dynamic=true, seed=7`; undefined without such
 * a header.
 *
 * @throws Failure 400 for a status or an example that the operation does not document
 */
export function readPreference(
  header: string | undefined,
  { responses }: DocumentedOperation,
): Preference | undefined {
  if (header === undefined) return undefined;
  const wishes = new Map(
    header.split(/[,;]/).map((wish): [string, string] => {
      const [name = '', value = ''] = wish.split('=', 2).map((part) => part.trim());
      return [name.toLowerCase(), value.replace(/^"(.*)"$/, '$1')];
    }),
  );
  const [code, example] = [wishes.get('code'), wishes.get('example')];
  const made = wishes.get('dynamic');
  if (code === undefined && example === undefined && made === undefined) return undefined;
  if (made !== undefined && made !== 'true' && made !== 'false')
    throw invalid('prefer', 'dynamic must be true or false.');
  const status = code === undefined ? undefined : Number(code);
  const of = responses.filter((one) => (status === undefined ? one.status < 400 : one.status === status));
  if (of.length === 0)
    throw invalid('prefer', `code ${code} is not documented here; there are ${list(responses, 'status')}.`);
  const names = of.flatMap(({ content }) => content).flatMap(({ examples }) => examples);
  if (example !== undefined && !names.some(({ name }) => name === example))
    throw invalid('prefer', `example "${example}" is not documented here; there are ${list(names, 'name')}.`);
  return {
    status,
    example,
    dynamic: made === undefined ? undefined : made === 'true',
    seed: wishes.get('seed'),
  };
}

const list = <Key extends string>(items: readonly Record<Key, string | number>[], key: Key): string =>
  [...new Set(items.map((item) => item[key]))].join(', ') || 'none';
