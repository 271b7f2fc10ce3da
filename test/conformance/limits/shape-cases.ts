import type { ErrorObject } from 'ajv';
import { isObject, type Json } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { schemaErrors } from '../contract/schemas.ts';
import type { Variation } from '../wire/exchange.ts';
import { seedsFor } from './request-cases.ts';

/** A documented request with a field of the wrong type, or without a required field. */
export interface ShapeCase {
  name: string;
  /** Path of the field, as in error messages. */
  field: string;
  variation: Variation;
}

/** One value of each type. */
const kinds: readonly Json[] = ['text', 7.5, true, null, ['text'], { text: 'text' }];

/**
 * Returns requests with each field of the documented bodies omitted or of the wrong type. Includes only requests that
 * violate the schema, and uses the first request that contains the field.
 */
export function shapeCases(operation: DocumentedOperation): ShapeCase[] {
  const visited = new Set<string>();
  return operation.requests
    .filter(({ mediaType }) => mediaType === 'application/json')
    .flatMap(({ mediaType, ...located }) =>
      seedsFor(operation, mediaType).flatMap((seed) =>
        fieldPaths(seed).flatMap((path) => {
          const field = path.join('.');
          if (visited.has(field)) return [];
          visited.add(field);
          const without = put(seed, path, undefined);
          const missing = violates(located, without, (error) => isMissing(error, path))
            ? [{ name: `without ${field}`, field, variation: { body: without } }]
            : [];
          // One wrong type per field is enough. The types rotate.
          const wrong = rotated(kinds, visited.size)
            .map((kind) => ({ kind, body: put(seed, path, kind) }))
            .find(({ body }) => violates(located, body, ({ instancePath }) => isAt(instancePath, path)));
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

/** Whether the path is the `instancePath` of an Ajv error. */
const isAt = (instancePath: string, path: readonly string[]) =>
  instancePath === path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const isMissing = ({ keyword, params, instancePath }: ErrorObject, path: readonly string[]) =>
  keyword === 'required' && params.missingProperty === path.at(-1) && isAt(instancePath, path.slice(0, -1));

const rotated = <T>(list: readonly T[], by: number): T[] => [
  ...list.slice(by % list.length),
  ...list.slice(0, by % list.length),
];

const violates = (
  located: Parameters<typeof schemaErrors>[0],
  body: Json,
  matches: (error: ErrorObject) => boolean,
): boolean => schemaErrors(located, body).some(matches);

/** Returns the paths of all fields in a value, including the first item of each list. */
export function fieldPaths(value: Json, path: readonly string[] = []): string[][] {
  const inside = isObject(value)
    ? Object.entries(value)
    : Array.isArray(value)
      ? [['0', value[0] ?? null] as const]
      : [];
  return inside
    .filter(([, one]) => one !== undefined)
    .flatMap(([key, one]) => [[...path, key], ...fieldPaths(one, [...path, key])]);
}

/** Returns a copy with another value at a path. Undefined removes the field. */
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
