import { expect, test } from 'vitest';
import type { DocumentedOperation } from '../../client/conformance/contract/documented.ts';
import type { Answer, Target } from '../../client/conformance/wire/answer.ts';
import { excerpt, mediaTypeOf } from '../../client/conformance/wire/wire.ts';
import { isObject } from '../../openapi/tools/document.ts';
import { noteAnswer } from './told-errors.ts';
import { unseenCells } from './unseen-cells.ts';
import { knownErrors } from './untold-errors.ts';

/** What gateways have answered with so far, by operation: a status and a media type each. */
const seen = new Map<string, Set<string>>();

const cell = (status: number, mediaType: string) => `${status} ${mediaType}`.trim();

/** The documented requests that gateways have taken unchanged. */
const taken = new Set<string>();

/** Keeps in mind that a gateway was sent a documented request as it stands, and took it. */
export function noteExample(
  { isGateway }: Target,
  { id }: DocumentedOperation,
  name: string,
  answer: Answer,
): void {
  if (isGateway === true && answer.status < 300) taken.add(`${id} ${name}`);
}

export const wasTaken = ({ id }: DocumentedOperation, name: string): boolean => taken.has(`${id} ${name}`);

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
 * Keeps in mind how a gateway answered. What the mock says proves nothing of it.
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
  const mediaType = answer.body.length === 0 ? '' : mediaTypeOf(answer);
  seen.getOrInsertComputed(id, () => new Set()).add(cell(answer.status, mediaType));
}

/** The codes in the examples of a response. */
function shownCodes(responses: DocumentedOperation['responses'], status: number): ReadonlySet<unknown> {
  const shown = responses.find((response) => response.status === status)?.content ?? [];
  const values = shown.flatMap(({ examples }) => examples.map(({ value }) => value));
  return new Set(values.map((value) => isObject(value) && isObject(value.error) && value.error.code));
}

/** Tests, after all other tests of the operation, that the gateway has given every documented answer. */
export function testCells({ id, responses }: DocumentedOperation): void {
  test('every documented answer was seen', () => {
    const documented = responses.flatMap(({ status, content }) =>
      content.length === 0 ? [cell(status, '')] : content.map(({ mediaType }) => cell(status, mediaType)),
    );
    const missing = documented.filter((one) => !seen.get(id)?.has(one));
    expect(missing.sort()).toEqual(Object.keys(unseenCells[id] ?? {}).sort());
  });
}
