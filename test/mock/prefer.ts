import { invalid } from '../../server/lib/failure.ts';
import type { DocumentedOperation } from '../conformance/contract/documented.ts';

/** The content of a `Prefer` header: a documented status, one of its examples, or generated values. */
export interface Preference {
  status: number | undefined;
  example: string | undefined;
  /** Whether the values are generated. Undefined: not specified. */
  dynamic: boolean | undefined;
  /** The same seed generates the same values. */
  seed: string | undefined;
}

/**
 * Parses `Prefer: code=429`, `Prefer: code=200, example=queued` or `Prefer: dynamic=true, seed=7`. Returns undefined
 * without such a header.
 *
 * @throws Failure 400 for a status or an example that the operation does not document
 */
export function readPreference(
  header: string | undefined,
  { responses }: DocumentedOperation,
): Preference | undefined {
  if (header === undefined) return undefined;
  const preferences = new Map(
    header.split(/[,;]/).map((preference): [string, string] => {
      const [name = '', value = ''] = preference.split('=', 2).map((part) => part.trim());
      return [name.toLowerCase(), value.replace(/^"(.*)"$/, '$1')];
    }),
  );
  const [code, example] = [preferences.get('code'), preferences.get('example')];
  const dynamic = preferences.get('dynamic');
  if (code === undefined && example === undefined && dynamic === undefined) return undefined;
  if (dynamic !== undefined && dynamic !== 'true' && dynamic !== 'false')
    throw invalid('prefer', 'dynamic must be true or false.');
  const status = code === undefined ? undefined : Number(code);
  const candidates = responses.filter((one) =>
    status === undefined ? one.status < 400 : one.status === status,
  );
  if (candidates.length === 0)
    throw invalid(
      'prefer',
      `code ${code} is not documented, must be one of ${joinUnique(responses, 'status')}.`,
    );
  const names = candidates.flatMap(({ content }) => content).flatMap(({ examples }) => examples);
  if (example !== undefined && !names.some(({ name }) => name === example))
    throw invalid(
      'prefer',
      `example "${example}" is not documented, must be one of ${joinUnique(names, 'name')}.`,
    );
  return {
    status,
    example,
    dynamic: dynamic === undefined ? undefined : dynamic === 'true',
    seed: preferences.get('seed'),
  };
}

const joinUnique = <Key extends string>(items: readonly Record<Key, string | number>[], key: Key): string =>
  [...new Set(items.map((item) => item[key]))].join(', ') || 'none';
