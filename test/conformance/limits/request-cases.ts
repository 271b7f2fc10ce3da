import type { Json, JsonObject } from '../../../openapi/tools/document.ts';
import { bundle, type DocumentedOperation, type Parameter } from '../contract/documented.ts';
import { asText, type Variation } from '../wire/exchange.ts';
import { type LimitCase, limitCases } from './limit-cases.ts';
import { seedRequests } from './seed-requests.ts';

/** A request with a value at a limit, and the same request with a value beyond it. */
export interface RequestCase extends Omit<LimitCase, 'at' | 'beyond'> {
  in: 'body' | Parameter['in'];
  at: Variation;
  beyond: Variation;
}

export interface RequestCases {
  cases: RequestCase[];
  /** Limits that no example reaches. */
  missing: string[];
}

/** Returns requests to vary: minimal ones first, then the documented ones. */
export const seedsFor = ({ id, requests }: DocumentedOperation, mediaType: string): Json[] => [
  ...(seedRequests[`${id} ${mediaType}`] ?? []),
  ...requests.flatMap((one) => (one.mediaType === mediaType ? one.examples.map(({ value }) => value) : [])),
];

/**
 * Returns a case for each limit of an operation's requests. Skips the schemas in `checkedSchemas`, which another operation
 * shares, and adds the schemas of this operation to it.
 */
export function requestCases(operation: DocumentedOperation, checkedSchemas: Set<JsonObject>): RequestCases {
  const inBodies = operation.requests.map(({ mediaType, pointer }) => {
    const { cases, missing } = limitCases(bundle, pointer, seedsFor(operation, mediaType), checkedSchemas);
    const body = (value: Json): Variation => ({ body: value, mediaType });
    return {
      missing,
      cases: cases.map((one) => ({
        ...one,
        in: 'body' as const,
        at: body(one.at),
        beyond: body(one.beyond),
      })),
    };
  });
  const inParameters = operation.parameters.map((parameter) => {
    // Each operation parses its own parameters, so shared schemas are checked again.
    const { cases, missing } = limitCases(bundle, parameter.pointer, [...parameter.examples, null]);
    return { missing, cases: reachable(parameter, cases) };
  });
  const all = [...inBodies, ...inParameters];
  return { cases: all.flatMap(({ cases }) => cases), missing: all.flatMap(({ missing }) => missing) };
}

/** Returns the cases of one parameter. */
export const parameterCases = (parameter: Parameter): RequestCase[] =>
  reachable(parameter, limitCases(bundle, parameter.pointer, [...parameter.examples, null]).cases);

/** Excludes an empty path parameter, which leads to another path. */
const reachable = (parameter: Parameter, cases: readonly LimitCase[]): RequestCase[] =>
  cases
    .filter(({ beyond }) => parameter.in !== 'path' || beyond !== '')
    .map((one) => inParameter(parameter, one));

function inParameter({ name, in: place }: Parameter, { at, beyond, ...one }: LimitCase): RequestCase {
  const vary = (value: Json): Variation => {
    if (place === 'query')
      return { query: { [name]: Array.isArray(value) ? value.map(asText) : asText(value) } };
    return place === 'path' ? { path: { [name]: asText(value) } } : { headers: { [name]: asText(value) } };
  };
  return {
    ...one,
    in: place,
    field: [name, ...one.field.split('.').filter(Boolean)].join('.'),
    at: vary(at),
    beyond: vary(beyond),
  };
}
