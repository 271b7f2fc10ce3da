import type { Arbitrary } from 'fast-check';
import { isObject, type Json } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation, Media, Parameter } from '../contract/documented.ts';
import { schemaProblems } from '../contract/schemas.ts';
import { partsOf, takesForms } from '../limits/form-shapes.ts';
import { withParameter } from '../limits/parameter-shapes.ts';
import { seedsOf } from '../limits/request-cases.ts';
import { places, put } from '../limits/shape-cases.ts';
import type { Told } from '../subject/caller.ts';
import type { Answer } from '../wire/answer.ts';
import type { Variation } from '../wire/exchange.ts';
import { excerpt } from '../wire/wire.ts';

/** What a random request came to. */
export interface SpreadFailure {
  problems: string[];
  curl: string;
}

/** A random request, and whether the schema takes it: the problems with it, as far as they can be known. */
interface Random {
  variation: Variation;
  wrong: readonly string[];
}

/** Random requests of one kind. */
export interface Spread {
  name: string;
  requests: Arbitrary<Random>;
}

/** What a server refuses a request with that the schema does not take. */
const refusals = [400, 404, 413, 415, 422];

type FastCheck = typeof import('fast-check');

/** Requests with something random in the body, in the parameters and in the form, as far as the operation takes them. */
export async function spreadsOf(operation: DocumentedOperation): Promise<Spread[]> {
  const check = await import('fast-check');
  const parameters = operation.parameters.filter((one) => mayBeRandom(operation, one));
  const media = operation.requests.find(({ mediaType }) => mediaType === 'application/json');
  const seeds = media === undefined ? [] : seedsOf(operation, media.mediaType);
  return [
    ...(media === undefined || seeds.length === 0
      ? []
      : [{ name: 'requests', requests: bodies(check, media, seeds) }]),
    ...(parameters.length === 0 ? [] : [{ name: 'parameters', requests: texts(check, parameters) }]),
    ...(takesForms(operation) ? [{ name: 'forms', requests: forms(check, seeds) }] : []),
  ];
}

/**
 * Sends random requests. What the schema does not take must be refused, and nothing may be answered with a 5xx,
 * whatever it is. Of a failure the smallest request is told.
 */
export async function trySpread(
  { requests }: Spread,
  { runs, seed }: { runs: number; seed: number },
  send: (variation: Variation) => Promise<Told>,
): Promise<SpreadFailure | undefined> {
  const { asyncProperty, check } = await import('fast-check');
  let last: SpreadFailure | undefined;
  const result = await check(
    asyncProperty(requests, async ({ variation, wrong }) => {
      const { answer, problems, curl } = await send(variation);
      const found = problems.length > 0 ? problems : judged(wrong, answer);
      if (found.length > 0) last = { problems: found, curl };
      return found.length === 0;
    }),
    { numRuns: runs, seed },
  );
  if (!result.failed) return undefined;
  if (result.errorInstance instanceof Error && last === undefined) throw result.errorInstance;
  return last;
}

/** Documented requests with one or two fields that hold anything. */
function bodies(
  { jsonValue, string, maxSafeInteger, constant, constantFrom, oneof, record, nat, option }: FastCheck,
  media: Media,
  seeds: readonly Json[],
): Arbitrary<Random> {
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
      const body = [first, second].reduce((value, one) => (one === null ? value : changed(value, one)), seed);
      return {
        variation: { body: isText(body) ? JSON.stringify(body) : body },
        wrong: schemaProblems(media, body),
      };
    },
  );
}

/** A text as the whole body is JSON too. */
const isText = (body: Json): body is string => typeof body === 'string';

function changed(value: Json, { at, to }: { at: number; to: unknown }): Json {
  const all = places(value);
  const path = all[at % Math.max(1, all.length)];
  return path === undefined || !(isObject(value) || Array.isArray(value))
    ? value
    : put(value, path, to as Json);
}

/** Nothing that could name a thing of somebody, or have a server do what it was asked to try, is left to chance. */
const mayBeRandom = ({ method }: DocumentedOperation, { in: place, schema }: Parameter): boolean =>
  method === 'get' || (place !== 'path' && schema.type !== 'boolean');

/** A documented request with any text for one of the parameters. */
function texts({ record, constantFrom, oneof, string }: FastCheck, parameters: readonly Parameter[]) {
  const text = oneof(
    string({ unit: 'grapheme', maxLength: 200 }),
    constantFrom('0', '-1', '1e3', '9007199254740993', 'null', '%00', '[]', 'a,b'),
  );
  const ascii = string({ unit: 'grapheme-ascii', maxLength: 200 });
  return record({ parameter: constantFrom(...parameters), text, ascii }).map(
    ({ parameter, text: any, ascii: plain }): Random => {
      const { in: place, schema } = parameter;
      // Some texts in a path make another path, and headers lose the blanks around them.
      const sent =
        place === 'header' ? `a${plain.trim()}` : place === 'path' && /^\.{0,2}$/.test(any) ? 'a' : any;
      const isList = schema.type === 'array';
      return {
        variation: withParameter(parameter, sent),
        wrong: isList
          ? []
          : (readings(sent)
              .map((value) => schemaProblems(parameter, value))
              .toSorted(byLength)[0] ?? []),
      };
    },
  );
}

const byLength = (left: readonly string[], right: readonly string[]) => left.length - right.length;

/** What a text may mean outside JSON. */
function readings(text: string): Json[] {
  const number = Number(text);
  return [
    text,
    ...(text.trim() !== '' && Number.isFinite(number) ? [number] : []),
    ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
  ];
}

/** A documented request as a form, with any text in one part. What its parts mean in all is for the server to say. */
function forms({ record, constantFrom, nat, string, option }: FastCheck, seeds: readonly Json[]) {
  const text = string({ unit: 'grapheme', maxLength: 200 });
  return record({ seed: constantFrom(...seeds), at: nat(), to: text, name: option(text) }).map(
    ({ seed, at, to, name }): Random => {
      const parts = partsOf(seed);
      const names = Object.keys(parts);
      const body = { ...parts, [name ?? names[at % Math.max(1, names.length)] ?? 'model']: to };
      return { variation: { body, mediaType: 'multipart/form-data' }, wrong: [] };
    },
  );
}

function judged(wrong: readonly string[], answer: Answer): string[] {
  if (answer.status >= 500) return [`answered ${answer.status}: ${excerpt(answer)}`];
  if (wrong.length === 0 || refusals.includes(answer.status)) return [];
  return [`answered ${answer.status} to what the schema does not take: ${wrong.slice(0, 3).join('; ')}`];
}
