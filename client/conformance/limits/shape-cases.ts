import type { ErrorObject } from 'ajv';
import { isObject, type Json } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { schemaErrors } from '../contract/schemas.ts';
import type { Variation } from '../wire/exchange.ts';
import { seedsOf } from './request-cases.ts';

/** A documented request with a field of the wrong type, or without one that it must have. */
export interface ShapeCase {
  name: string;
  /** Path of the field, as a message names it. */
  field: string;
  variation: Variation;
}

/** One value of each type. */
const kinds: readonly Json[] = ['text', 7.5, true, null, ['text'], { text: 'text' }];

/**
 * For each field of a documented body the wrong types and its absence. The schema is the judge: what it takes is no
 * case, and a field is tried in the first request that has it.
 */
export function shapeCases(operation: DocumentedOperation): ShapeCase[] {
  const seen = new Set<string>();
  return operation.requests
    .filter(({ mediaType }) => mediaType === 'application/json')
    .flatMap(({ mediaType, ...located }) =>
      seedsOf(operation, mediaType).flatMap((seed) =>
        places(seed).flatMap((path) => {
          const field = path.join('.');
          if (seen.has(field)) return [];
          seen.add(field);
          const without = put(seed, path, undefined);
          const missing = breaks(located, without, (error) => isWithout(error, path))
            ? [{ name: `without ${field}`, field, variation: { body: without } }]
            : [];
          // Of all wrong types one is enough, another for each field.
          const wrong = rotated(kinds, seen.size)
            .map((kind) => ({ kind, body: put(seed, path, kind) }))
            .find(({ body }) => breaks(located, body, ({ instancePath }) => isAt(instancePath, path)));
          return wrong === undefined
            ? missing
            : [
                ...missing,
                {
                  name: `${field} ${JSON.stringify(wrong.kind)}`,
                  field,
                  variation: { body: wrong.body },
                },
              ];
        }),
      ),
    );
}

/** As messages of Ajv name a place. */
const isAt = (instancePath: string, path: readonly string[]) =>
  instancePath === path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const isWithout = ({ keyword, params, instancePath }: ErrorObject, path: readonly string[]) =>
  keyword === 'required' && params.missingProperty === path.at(-1) && isAt(instancePath, path.slice(0, -1));

const rotated = <T>(list: readonly T[], by: number): T[] => [
  ...list.slice(by % list.length),
  ...list.slice(0, by % list.length),
];

const breaks = (
  located: Parameters<typeof schemaErrors>[0],
  body: Json,
  how: (error: ErrorObject) => boolean,
): boolean => schemaErrors(located, body).some(how);

/** The paths of all fields in a value, those of first items included. */
export function places(value: Json, path: readonly string[] = []): string[][] {
  const inside = isObject(value)
    ? Object.entries(value)
    : Array.isArray(value)
      ? [['0', value[0] ?? null] as const]
      : [];
  return inside
    .filter(([, one]) => one !== undefined)
    .flatMap(([key, one]) => [[...path, key], ...places(one, [...path, key])]);
}

/** A copy with another value at a path; undefined takes it out. */
export function put(value: Json, [key, ...rest]: readonly string[], to: Json | undefined): Json {
  if (key === undefined) return to ?? null;
  if (Array.isArray(value)) {
    const index = Number(key);
    if (rest.length === 0 && to === undefined) return value.filter((_, at) => at !== index);
    return value.map((one, at) => (at === index ? put(one, rest, to) : one));
  }
  const { [key]: old = null, ...others } = isObject(value) ? value : {};
  if (rest.length === 0 && to === undefined) return others;
  return { ...others, [key]: put(old, rest, to) };
}
