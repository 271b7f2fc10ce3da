import type { DocumentedOperation } from '../../client/conformance/contract/documented.ts';
import type { Answer, Target } from '../../client/conformance/wire/answer.ts';
import { excerpt } from '../../client/conformance/wire/wire.ts';
import { isObject } from '../../openapi/tools/document.ts';
import { noteAnswer } from './told-errors.ts';
import { knownErrors } from './untold-errors.ts';

/** Addresses, paths, statements, system errors and stacks: what an error may not tell a client. */
const ofTheInside =
  /127\.0\.0\.1|localhost|node_modules|\.ts\b|\/(?:tmp|home|usr)\/|\b(?:ECONN|ENOTFOUND|EPIPE|EAI_)|\bselect .* from |\n\s+at /;

/** Codes of requests that reach no operation; `info.description` shows them. */
const ofNoOperation: ReadonlySet<string> = new Set(['path_not_found', 'method_not_allowed']);

/** Codes that the providers of the contract tests refuse with. */
const providersCodes: ReadonlySet<string> = new Set([
  'DataInspectionFailed',
  'InputTextSensitiveContentDetected',
  'invalid_argument',
  'sensitive_words_detected',
]);

/**
 * Keeps in mind what errors a gateway has told. What the mock says proves nothing of it.
 *
 * @throws Error when it answered with an error that the catalogue does not have, that no example of the operation
 *   shows, or that tells of the inside
 */
export function noteCell(
  { isGateway }: Target,
  { id, responses }: DocumentedOperation,
  request: { method: string; path: string },
  answer: Answer,
): void {
  if (isGateway !== true) return;
  const error = noteAnswer(request, answer.status, answer.body.toString('utf8'));
  const code = error?.split(' ')[2];
  if (error !== undefined && !providersCodes.has(code ?? '')) {
    if (!knownErrors.has(error)) throw new Error(`errors.yaml has no ${error}`);
    const shown = ofNoOperation.has(code ?? '') || shownCodes(responses, answer.status).has(code);
    if (code !== undefined && !shown) throw new Error(`no example of ${id} shows ${answer.status} ${code}`);
  }
  if (error !== undefined && ofTheInside.test(answer.body.toString('utf8')))
    throw new Error(`an error tells of the inside: ${excerpt(answer)}`);
}

/** The codes in the examples of a response. */
function shownCodes(responses: DocumentedOperation['responses'], status: number): ReadonlySet<unknown> {
  const shown = responses.find((response) => response.status === status)?.content ?? [];
  const values = shown.flatMap(({ examples }) => examples.map(({ value }) => value));
  return new Set(values.map((value) => isObject(value) && isObject(value.error) && value.error.code));
}
