import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { formShapes } from '../limits/form-shapes.ts';
import { parameterShapes } from '../limits/parameter-shapes.ts';
import { type RequestCase, requestCases } from '../limits/request-cases.ts';
import { shapeCases } from '../limits/shape-cases.ts';
import { type Told } from '../subject/caller.ts';
import type { Answer } from '../wire/answer.ts';
import type { Variation } from '../wire/exchange.ts';
import { messageOf, namesField } from '../wire/refusal.ts';

/** Refusals that come from behind the contract: what holds for the model or the owner alone. */
const rulesOfModels = [
  /is not a voice of/,
  /makes no voices for/,
  /there is no (asset|group|(Seedance )?task)/,
  /gives mp3, wav, pcm, opus without streaming/,
  /speed: must be from 0\.5 to 2 for this model/,
  /takes audio only together with an image or a video/,
  // Reference videos take of the 30 seconds.
  /must be at most \d+ here: input video and output/,
  /extend needs a source video/,
  // The smallest time is long past.
  /expired_time: must be a Unix time in the future/,
  // An eta video has the length -1 only when it is an edit.
  /(seconds|duration): must be 1 to 15/,
];

// An id of the greatest length is nobody's, a key without quota may start nothing, and a socket wants to be one.
const behindTheContract = [200, 204, 403, 404, 426];

/** A request for a limit or a shape, and what is wrong with an answer to it. */
export interface Bounded {
  name: string;
  variation: Variation;
  problem: (answer: Answer) => string | undefined;
}

/**
 * For every limit of an operation's requests one at it, which is taken, and one beyond it, which is refused with the
 * field's name; and for every field one of the wrong type and one without it. A path that says what is to be changed
 * is never one that could be somebody's.
 */
export function boundedRequests(
  operation: DocumentedOperation,
  taken: Set<JsonObject>,
): { requests: Bounded[]; missing: string[] } {
  const { cases, missing } = requestCases(operation, taken);
  return { requests: cases.flatMap((one) => atAndBeyond(one, operation.method !== 'get')), missing };
}

function atAndBeyond(
  { in: place, field, keyword, limit, at, beyond }: RequestCase,
  changes: boolean,
): Bounded[] {
  const name = `${field} ${keyword} ${JSON.stringify(limit)}`;
  const refused = { name: `beyond ${name}`, variation: beyond, problem: refusedProblem(field) };
  if (changes && place === 'path') return [refused];
  return [{ name: `at ${name}`, variation: at, problem: takenProblem(field) }, refused];
}

/**
 * Documented requests of the wrong shape, each of which is refused. In a union the refusal may be about another member,
 * and so about a field beside it.
 */
export const misshapenRequests = (operation: DocumentedOperation): Bounded[] =>
  [...shapeCases(operation), ...parameterShapes(operation), ...formShapes(operation)].map(
    ({ name, field, variation }) => ({ name, variation, problem: refusedProblem(around(field)) }),
  );

/** The list or the object that a field stands in; itself when that is the whole. */
function around(field: string): string {
  const [list] = /^.*?(?=\.\d+(\.|$))/.exec(field) ?? [];
  return list ?? (field.includes('.') ? field.slice(0, field.lastIndexOf('.')) : field);
}

/** Why a request at a limit was not taken; undefined when it was. */
const takenProblem = (field: string) => (answer: Answer) => {
  if (behindTheContract.includes(answer.status)) return undefined;
  const message = messageOf(answer);
  if (answer.status === 400 && rulesOfModels.some((rule) => rule.test(message))) return undefined;
  // What another rule refuses says nothing of this limit.
  if (answer.status === 400 && message !== '' && !namesField(message, field)) return undefined;
  return `is not taken: ${answer.status} ${message}`;
};

/** Why a request beyond a limit was not refused as it must be; undefined when it was. */
const refusedProblem = (field: string) => (answer: Answer) => {
  const message = messageOf(answer);
  if (answer.status !== 400) return `is answered with ${answer.status} instead of 400: ${message}`;
  return namesField(message, field) ? undefined : `the refusal does not name ${field}: ${message}`;
};

/** The problems of each request, a few requests at a time, so that neither side waits for the other. */
export async function tryAll(
  requests: readonly Bounded[],
  send: (variation: Variation) => Promise<Told>,
): Promise<{ name: string; problems: string[]; curl: string }[]> {
  const waiting = [...requests];
  const failed: { name: string; problems: string[]; curl: string }[] = [];
  const lane = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const { answer, problems, curl } = await send(one.variation);
      const told = problems.map((problem) => `(${answer.status}) ${problem}`);
      const wrong = told.length > 0 ? told : [one.problem(answer)].filter((text) => text !== undefined);
      if (wrong.length > 0) failed.push({ name: one.name, problems: wrong, curl });
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return failed;
}
