import { isObject, type Json, type JsonObject } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { written } from '../wire/exchange.ts';
import { seedsOf } from './request-cases.ts';
import { places, type ShapeCase } from './shape-cases.ts';

const form = 'multipart/form-data';

export const takesForms = ({ requests }: DocumentedOperation): boolean =>
  requests.some(({ mediaType }) => mediaType === form);

/**
 * A JSON request as the parts of a form: a nested field is written with brackets, an item with its number. Null has no
 * way to be written, so its field is left out.
 */
export function partsOf(value: Json): Record<string, string> {
  const entries = leaves(value).map(([[first = '', ...rest], leaf]): [string, string] => [
    `${first}${rest.map((key) => `[${key}]`).join('')}`,
    written(leaf),
  ]);
  return Object.fromEntries(entries);
}

function leaves(value: Json, path: readonly string[] = []): [string[], Json][] {
  if (value === null) return [];
  if (typeof value !== 'object') return [[[...path], value]];
  return Object.entries(value).flatMap(([key, one]) =>
    leaves((one as Json | undefined) ?? null, [...path, key]),
  );
}

/** Forms that are none, that break off or are too large, and fields that are not of the type of the JSON request. */
export function formShapes(operation: DocumentedOperation): ShapeCase[] {
  if (!takesForms(operation)) return [];
  const seeds = seedsOf(operation, 'application/json').filter(isObject);
  const [plain = {}] = seeds;
  const parts = partsOf(plain);
  const sent = (name: string, field: string, body: JsonObject): ShapeCase => ({
    name: `a form ${name}`,
    field,
    variation: { body, mediaType: form },
  });
  const { model: _model, ...nameless } = parts;
  const many = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`metadata[a${at}]`, '1']));
  return [
    sent('without model', 'model', nameless),
    sent('with model twice', 'model', { ...parts, model: ['a', 'b'] }),
    sent('with metadata that is no JSON', 'metadata', { ...parts, metadata: '{' }),
    sent('with metadata that is a list', 'metadata', { ...parts, metadata: '[]' }),
    sent('of 501 parts', 'body', { ...parts, ...many }),
    sent('with a name nine levels deep', 'metadata', { ...parts, [`metadata${'[a]'.repeat(9)}`]: '1' }),
    raw('without a boundary', 'content-type', form, '--x--\r\n'),
    raw(
      'that breaks off',
      'body',
      `${form}; boundary=x`,
      '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nga',
    ),
    ...numbers(seeds).map(([field, seed]) =>
      sent(`with ${field} "many"`, field, { ...partsOf(seed), [bracketed(field)]: 'many' }),
    ),
  ];
}

const raw = (name: string, field: string, type: string, body: string): ShapeCase => ({
  name: `a form ${name}`,
  field,
  variation: { body, headers: { 'content-type': type } },
});

const bracketed = (field: string) => {
  const [first = '', ...rest] = field.split('.');
  return `${first}${rest.map((key) => `[${key}]`).join('')}`;
};

/** The fields with numbers or truth values, each with the first request that has it. */
function numbers(seeds: readonly JsonObject[]): [string, JsonObject][] {
  const found = new Map<string, JsonObject>();
  for (const seed of seeds)
    for (const path of places(seed)) {
      const value = path.reduce<Json | undefined>(
        (inside, key) =>
          inside === null || typeof inside !== 'object' ? undefined : (inside as JsonObject)[key],
        seed,
      );
      const field = path.join('.');
      if ((typeof value === 'number' || typeof value === 'boolean') && !found.has(field))
        found.set(field, seed);
    }
  return [...found];
}
