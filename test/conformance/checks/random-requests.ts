import type { Arbitrary } from 'fast-check';
import { isObject, type Json } from '../../../openapi/tools/document.ts';
import type { CheckedResponse } from '../context/caller.ts';
import type { DocumentedOperation, Media, Parameter } from '../contract/documented.ts';
import { schemaProblems } from '../contract/schemas.ts';
import { acceptsForms, formFields } from '../limits/form-shapes.ts';
import { withParameter } from '../limits/parameter-shapes.ts';
import { seedsFor } from '../limits/request-cases.ts';
import { fieldPaths, put } from '../limits/shape-cases.ts';
import type { CheckOutcome } from '../scenarios/scenario.ts';
import type { Variation } from '../wire/exchange.ts';
import type { HttpResponse } from '../wire/http-response.ts';
import { excerpt } from '../wire/wire.ts';

interface RandomRequest {
  variation: Variation;
  /** Schema violations of the request, as far as the kit knows them. */
  violations: readonly string[];
}

/** Random requests of one kind. */
export interface RandomRequests {
  name: string;
  requests: Arbitrary<RandomRequest>;
}

/** Statuses that reject an invalid request. */
const rejections = [400, 404, 413, 415, 422];

type FastCheck = typeof import('fast-check');

/** Returns generators of requests with random bodies, parameters and forms, as far as the operation has them. */
export async function randomRequests(operation: DocumentedOperation): Promise<RandomRequests[]> {
  const check = await import('fast-check');
  const parameters = operation.parameters.filter((one) => mayBeRandom(operation, one));
  const media = operation.requests.find(({ mediaType }) => mediaType === 'application/json');
  const seeds = media === undefined ? [] : seedsFor(operation, media.mediaType);
  return [
    ...(media === undefined || seeds.length === 0
      ? []
      : [{ name: 'requests', requests: bodies(check, media, seeds) }]),
    ...(parameters.length === 0 ? [] : [{ name: 'parameters', requests: texts(check, parameters) }]),
    ...(acceptsForms(operation) ? [{ name: 'forms', requests: forms(check, seeds) }] : []),
  ];
}

/**
 * Sends random requests. The server must reject requests that violate the schema, and must never return a 5xx status.
 * Returns the smallest failing request.
 */
export async function checkRandomRequests(
  { requests }: RandomRequests,
  { runs, seed }: { runs: number; seed: number },
  send: (variation: Variation) => Promise<CheckedResponse>,
): Promise<CheckOutcome | undefined> {
  const { asyncProperty, check } = await import('fast-check');
  let last: CheckOutcome | undefined;
  const result = await check(
    asyncProperty(requests, async ({ variation, violations }) => {
      const { response, problems, curl } = await send(variation);
      const found = problems.length > 0 ? problems : responseProblems(violations, response);
      if (found.length > 0) last = { problems: found, curl };
      return found.length === 0;
    }),
    { numRuns: runs, seed },
  );
  if (!result.failed) return undefined;
  if (result.errorInstance instanceof Error && last === undefined) throw result.errorInstance;
  return last;
}

/** Documented requests with random values in one or two fields. */
function bodies(
  { jsonValue, string, maxSafeInteger, constant, constantFrom, oneof, record, nat, option }: FastCheck,
  media: Media,
  seeds: readonly Json[],
): Arbitrary<RandomRequest> {
  const anything = oneof(
    jsonValue({ maxDepth: 2 }),
    string({ maxLength: 400 }),
    maxSafeInteger(),
    constant(undefined),
    constantFrom('', -1, 0, null, [], {}),
  );
  const change = record({ at: nat(), to: anything });
  return record({ seed: constantFrom(...seeds), first: change, second: option(change) }).map(
    ({ seed, first, second }) => {
      const body = [first, second].reduce(
        (value, one) => (one === null ? value : replaceField(value, one)),
        seed,
      );
      return {
        variation: { body: isText(body) ? JSON.stringify(body) : body },
        violations: schemaProblems(media, body),
      };
    },
  );
}

/** A text is sent as a JSON string. */
const isText = (body: Json): body is string => typeof body === 'string';

function replaceField(value: Json, { at, to }: { at: number; to: unknown }): Json {
  const all = fieldPaths(value);
  const path = all[at % Math.max(1, all.length)];
  return path === undefined || !(isObject(value) || Array.isArray(value))
    ? value
    : put(value, path, to as Json);
}

/** Excludes parameters that could name a resource or turn a dry run into a change. */
const mayBeRandom = ({ method }: DocumentedOperation, { in: place, schema }: Parameter): boolean =>
  method === 'get' || (place !== 'path' && schema.type !== 'boolean');

/** Documented requests with a random text in one parameter. */
function texts({ record, constantFrom, oneof, string }: FastCheck, parameters: readonly Parameter[]) {
  const text = oneof(
    string({ unit: 'grapheme', maxLength: 200 }),
    constantFrom('0', '-1', '1e3', '9007199254740993', 'null', '%00', '[]', 'a,b'),
  );
  const ascii = string({ unit: 'grapheme-ascii', maxLength: 200 });
  return record({ parameter: constantFrom(...parameters), text, ascii }).map(
    ({ parameter, text: any, ascii: plain }): RandomRequest => {
      const { in: place, schema } = parameter;
      // Some texts in a path lead to another path. Headers lose leading and trailing spaces.
      const sent =
        place === 'header' ? `a${plain.trim()}` : place === 'path' && /^\.{0,2}$/.test(any) ? 'a' : any;
      const isList = schema.type === 'array';
      return {
        variation: withParameter(parameter, sent),
        violations: isList
          ? []
          : (parsedValues(sent)
              .map((value) => schemaProblems(parameter, value))
              .toSorted(byLength)[0] ?? []),
      };
    },
  );
}

const byLength = (left: readonly string[], right: readonly string[]) => left.length - right.length;

/** Returns the values that a text may mean outside JSON. */
function parsedValues(text: string): Json[] {
  const number = Number(text);
  return [
    text,
    ...(text.trim() !== '' && Number.isFinite(number) ? [number] : []),
    ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
  ];
}

/** Documented requests as forms with a random text in one part. Only the server knows whether they are valid. */
function forms({ record, constantFrom, nat, string, option }: FastCheck, seeds: readonly Json[]) {
  const text = string({ unit: 'grapheme', maxLength: 200 });
  return record({ seed: constantFrom(...seeds), at: nat(), to: text, name: option(text) }).map(
    ({ seed, at, to, name }): RandomRequest => {
      const parts = formFields(seed);
      const names = Object.keys(parts);
      const body = { ...parts, [name ?? names[at % Math.max(1, names.length)] ?? 'model']: to };
      return { variation: { body, mediaType: 'multipart/form-data' }, violations: [] };
    },
  );
}

function responseProblems(violations: readonly string[], response: HttpResponse): string[] {
  if (response.status >= 500) return [`status ${response.status}: ${excerpt(response)}`];
  if (violations.length === 0 || rejections.includes(response.status)) return [];
  const shown = violations.slice(0, 3).join('; ');
  return [`status ${response.status} for a request that violates the schema: ${shown}`];
}
