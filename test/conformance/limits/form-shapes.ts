import { isObject, type Json, type JsonObject } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { asText } from '../wire/exchange.ts';
import { seedsFor } from './request-cases.ts';
import { fieldPaths, type ShapeCase } from './shape-cases.ts';

const formType = 'multipart/form-data';

export const acceptsForms = ({ requests }: DocumentedOperation): boolean =>
  requests.some(({ mediaType }) => mediaType === formType);

/**
 * Converts a JSON request to form fields: brackets for nested fields, indexes for items. Forms cannot express null, so
 * null fields are omitted.
 */
export function formFields(value: Json): Record<string, string> {
  const entries = leaves(value).map(([[first = '', ...rest], leaf]): [string, string] => [
    `${first}${rest.map((key) => `[${key}]`).join('')}`,
    asText(leaf),
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

/** Malformed, truncated and oversized forms, and fields of the wrong type. */
export function formShapes(operation: DocumentedOperation): ShapeCase[] {
  if (!acceptsForms(operation)) return [];
  const seeds = seedsFor(operation, 'application/json').filter(isObject);
  const [plain = {}] = seeds;
  const parts = formFields(plain);
  const shape = (name: string, field: string, body: JsonObject): ShapeCase => ({
    name: `a form ${name}`,
    field,
    variation: { body, mediaType: formType },
  });
  const { model: _model, ...withoutModel } = parts;
  const many = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`metadata[a${at}]`, '1']));
  return [
    shape('without model', 'model', withoutModel),
    shape('with model twice', 'model', { ...parts, model: ['a', 'b'] }),
    shape('with metadata that is not JSON', 'metadata', { ...parts, metadata: '{' }),
    shape('with metadata that is a list', 'metadata', { ...parts, metadata: '[]' }),
    shape('with 501 fields', 'body', { ...parts, ...many }),
    shape('with a field nine levels deep', 'metadata', { ...parts, [`metadata${'[a]'.repeat(9)}`]: '1' }),
    raw('without a boundary', 'content-type', formType, '--x--\r\n'),
    raw(
      'that is truncated',
      'body',
      `${formType}; boundary=x`,
      '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nga',
    ),
    ...typedFields(seeds).map(([field, seed]) =>
      shape(`with ${field} "many"`, field, { ...formFields(seed), [bracketed(field)]: 'many' }),
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

/** Returns the numeric and boolean fields, each with the first request that contains it. */
function typedFields(seeds: readonly JsonObject[]): [string, JsonObject][] {
  const found = new Map<string, JsonObject>();
  for (const seed of seeds)
    for (const path of fieldPaths(seed)) {
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
