import { isObject, type Json } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation, Media } from '../contract/documented.ts';
import { schemaProblems } from '../contract/schemas.ts';
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

/** What a server refuses a request with that the schema does not take. */
const refusals = [400, 404, 413, 415, 422];

/**
 * Documented requests with one or two fields that hold anything. What the schema does not take must be refused, and
 * nothing may be answered with a 5xx, whatever it is. Of a failure the smallest request is told.
 */
export async function spread(
  operation: DocumentedOperation,
  { runs, seed }: { runs: number; seed: number },
  send: (variation: Variation) => Promise<Told>,
): Promise<SpreadFailure | undefined> {
  const media = operation.requests.find(({ mediaType }) => mediaType === 'application/json');
  const seeds = media === undefined ? [] : seedsOf(operation, media.mediaType);
  if (media === undefined || seeds.length === 0 || runs === 0) return undefined;
  const {
    asyncProperty,
    check,
    constant,
    constantFrom,
    jsonValue,
    maxSafeInteger,
    oneof,
    record,
    nat,
    option,
    string,
  } = await import('fast-check');
  const anything = oneof(
    jsonValue({ maxDepth: 2 }),
    string({ maxLength: 400 }),
    maxSafeInteger(),
    constant(undefined),
    constantFrom('', -1, 0, null, [], {}),
  );
  const change = record({ at: nat(), to: anything });
  const varied = record({ seed: constantFrom(...seeds), first: change, second: option(change) });
  let last: SpreadFailure | undefined;
  const result = await check(
    asyncProperty(varied, async ({ seed: from, first, second }) => {
      const body = [first, second].reduce((value, one) => (one === null ? value : changed(value, one)), from);
      const { answer, problems, curl } = await send({ body: isText(body) ? JSON.stringify(body) : body });
      const wrong = problems.length > 0 ? problems : judged(media, body, answer);
      if (wrong.length > 0) last = { problems: wrong, curl };
      return wrong.length === 0;
    }),
    { numRuns: runs, seed },
  );
  if (!result.failed) return undefined;
  if (result.errorInstance instanceof Error && last === undefined) throw result.errorInstance;
  return last;
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

function judged(media: Media, body: Json, answer: Answer): string[] {
  if (answer.status >= 500) return [`answered ${answer.status}: ${excerpt(answer)}`];
  const wrong = schemaProblems(media, body);
  if (wrong.length === 0 || refusals.includes(answer.status)) return [];
  return [`answered ${answer.status} to what the schema does not take: ${wrong.slice(0, 3).join('; ')}`];
}
