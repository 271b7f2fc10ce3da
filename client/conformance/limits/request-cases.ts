import type { Json, JsonObject } from '../../../openapi/tools/document.ts';
import { bundle, type DocumentedOperation, type Parameter } from '../contract/documented.ts';
import { type Variation, written } from '../wire/exchange.ts';
import { type LimitCase, limitCases } from './limit-cases.ts';
import { limitSeeds } from './limit-seeds.ts';

/** A request that is just allowed, and the same with one thing beyond a limit. */
export interface RequestCase extends Omit<LimitCase, 'at' | 'beyond'> {
  in: 'body' | Parameter['in'];
  at: Variation;
  beyond: Variation;
}

export interface RequestCases {
  cases: RequestCase[];
  /** Limits for which no example could be brought to the limit. */
  missing: string[];
}

/** Requests to vary: plain ones first, then the documented ones. */
export const seedsOf = ({ id, requests }: DocumentedOperation, mediaType: string): Json[] => [
  ...(limitSeeds[`${id} ${mediaType}`] ?? []),
  ...requests.flatMap((one) => (one.mediaType === mediaType ? one.examples.map(({ value }) => value) : [])),
];

/**
 * A case for each limit of an operation's requests. Schemas that are `taken` have had theirs with another operation that
 * shares them; those of this one are added.
 */
export function requestCases(operation: DocumentedOperation, taken: Set<JsonObject>): RequestCases {
  const inBodies = operation.requests.map(({ mediaType, pointer }) => {
    const { cases, missing } = limitCases(bundle, pointer, seedsOf(operation, mediaType), taken);
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
    // Each operation reads its parameters itself, whoever it shares their schemas with.
    const { cases, missing } = limitCases(bundle, parameter.pointer, [...parameter.examples, null]);
    return { missing, cases: reachable(parameter, cases) };
  });
  const all = [...inBodies, ...inParameters];
  return { cases: all.flatMap(({ cases }) => cases), missing: all.flatMap(({ missing }) => missing) };
}

/** The cases of one parameter alone. */
export const parameterCases = (parameter: Parameter): RequestCase[] =>
  reachable(parameter, limitCases(bundle, parameter.pointer, [...parameter.examples, null]).cases);

/** An empty path parameter makes another path. */
const reachable = (parameter: Parameter, cases: readonly LimitCase[]): RequestCase[] =>
  cases
    .filter(({ beyond }) => parameter.in !== 'path' || beyond !== '')
    .map((one) => inParameter(parameter, one));

function inParameter({ name, in: place }: Parameter, { at, beyond, ...one }: LimitCase): RequestCase {
  const sent = (value: Json): Variation => {
    if (place === 'query')
      return { query: { [name]: Array.isArray(value) ? value.map(written) : written(value) } };
    return place === 'path' ? { path: { [name]: written(value) } } : { headers: { [name]: written(value) } };
  };
  return {
    ...one,
    in: place,
    field: [name, ...one.field.split('.').filter(Boolean)].join('.'),
    at: sent(at),
    beyond: sent(beyond),
  };
}
