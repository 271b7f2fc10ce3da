import type { JsonObject } from '../../../openapi/tools/document.ts';
import { type CheckedResponse } from '../context/caller.ts';
import { codeOf } from '../context/coverage.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { formShapes } from '../limits/form-shapes.ts';
import { parameterShapes } from '../limits/parameter-shapes.ts';
import { type RequestCase, requestCases } from '../limits/request-cases.ts';
import { shapeCases } from '../limits/shape-cases.ts';
import { fieldsOf, messageOf, namesField } from '../wire/error.ts';
import type { Variation } from '../wire/exchange.ts';
import type { HttpResponse } from '../wire/http-response.ts';

/** Errors from rules of the model or the resource that the schemas do not contain. */
const modelRules = [
  /is not a voice of/,
  /makes no voices for/,
  /there is no (asset|group|(Seedance )?task)/,
  /must be one of mp3, wav, pcm, opus for .+ without streaming/,
  /dimensions must be an integer from 1 to \d+/,
  /speed: must be between 0\.5 and 2 for this model/,
  /takes audio only together with an image or a video/,
  // Reference videos count towards the 30 s.
  /must be at most \d+ here: input video and output/,
  /extend requires a source video/,
  // The smallest valid time is in the past.
  /expired_time: must be a Unix time in the future/,
  // Operations of one format share keys, and each sends the same shortest and longest one.
  /Idempotency-Key: it was used for another request/,
  // A usage has only the figures of its model, and only some operations have a price.
  /usage\.\w+: is no figure of/,
  /^operation: must be one of /,
  // The eta family allows a length of -1 only for edits.
  /(seconds|duration): must be 1 to 15/,
];

// Statuses after validation: an unknown id of maximum length, a key without quota, and a missing upgrade.
const statusesAfterValidation = [200, 204, 403, 404, 426];

/** A request that tests a limit or a shape, and the check of its response. */
export interface RequestCheck {
  name: string;
  variation: Variation;
  problem: (response: HttpResponse) => string | undefined;
}

/**
 * Two requests for every limit of an operation: one at the limit, which the server accepts, and one beyond it, which it
 * rejects with the name of the field. A changing operation gets no request at the limit of a path parameter, because
 * that id could belong to a resource.
 */
export function limitRequests(
  operation: DocumentedOperation,
  checkedSchemas: Set<JsonObject>,
): { requests: RequestCheck[]; missing: string[] } {
  const { cases, missing } = requestCases(operation, checkedSchemas);
  return { requests: cases.flatMap((one) => atAndBeyond(one, operation.method !== 'get')), missing };
}

function atAndBeyond(
  { in: place, field, keyword, limit, at, beyond }: RequestCase,
  isChange: boolean,
): RequestCheck[] {
  const name = `${field} ${keyword} ${JSON.stringify(limit)}`;
  const rejected = { name: `beyond ${name}`, variation: beyond, problem: rejectedProblem(field) };
  if (isChange && place === 'path') return [rejected];
  return [{ name: `at ${name}`, variation: at, problem: acceptedProblem(field) }, rejected];
}

/**
 * Requests of the wrong shape, which the server rejects. In a union the error may concern another member, and therefore
 * a neighboring field.
 */
export const shapeRequests = (operation: DocumentedOperation): RequestCheck[] =>
  [...shapeCases(operation), ...parameterShapes(operation), ...formShapes(operation)].map(
    ({ name, field, variation }) => ({ name, variation, problem: rejectedProblem(parentOf(field)) }),
  );

/** Returns the path of the list or object that contains the field, or the field itself at the top level. */
function parentOf(field: string): string {
  const [list] = /^.*?(?=\.\d+(\.|$))/.exec(field) ?? [];
  return list ?? (field.includes('.') ? field.slice(0, field.lastIndexOf('.')) : field);
}

/** Explains why a request at a limit was not accepted. Undefined if it was. */
const acceptedProblem = (field: string) => (response: HttpResponse) => {
  if (statusesAfterValidation.includes(response.status)) return undefined;
  const message = messageOf(response);
  if (response.status === 400 && modelRules.some((rule) => rule.test(message))) return undefined;
  // An error about another field does not concern this limit.
  const others = fieldsOf(message).filter((one) => /^[\w.[\]-]+$/.test(one));
  if (response.status === 400 && others.length > 0 && !namesField(message, field)) return undefined;
  return `is not accepted: ${response.status} ${message}`;
};

/** Error codes of requests that violate the contract. */
const rejectionCodes = ['invalid_request', 'invalid_media_combination'];

/** Explains why a request beyond a limit was not rejected correctly. Undefined if it was. */
const rejectedProblem = (field: string) => (response: HttpResponse) => {
  const message = messageOf(response);
  if (response.status !== 400) return `returns ${response.status} instead of 400: ${message}`;
  const code = codeOf(response);
  if (code !== undefined && !rejectionCodes.includes(code))
    return `code is ${code} instead of ${rejectionCodes.join(' or ')}: ${message}`;
  return namesField(message, field) ? undefined : `the error does not name ${field}: ${message}`;
};

/** Sends all requests, four at a time. Returns those with problems. */
export async function sendAll(
  requests: readonly RequestCheck[],
  send: (variation: Variation) => Promise<CheckedResponse>,
): Promise<{ name: string; problems: string[]; curl: string }[]> {
  const pending = [...requests];
  const failed: { name: string; problems: string[]; curl: string }[] = [];
  const worker = async () => {
    for (let one = pending.shift(); one !== undefined; one = pending.shift()) {
      const { response, problems, curl } = await send(one.variation);
      const violations = problems.map((problem) => `(${response.status}) ${problem}`);
      const found = [...violations, one.problem(response)].filter((text) => text !== undefined);
      if (found.length > 0) failed.push({ name: one.name, problems: found, curl });
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  return failed;
}
