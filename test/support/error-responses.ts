import { isObject } from '../../openapi/tools/document.ts';
import type { DocumentedOperation } from '../conformance/contract/documented.ts';
import type { HttpResponse, Target } from '../conformance/wire/http-response.ts';
import { excerpt } from '../conformance/wire/wire.ts';
import { recordResponseBody } from './recorded-errors.ts';
import { knownErrors } from './uncovered-errors.ts';

/** Addresses, paths, SQL statements, system errors and stacks, which an error must not reveal. */
const internalDetails =
  /127\.0\.0\.1|localhost|node_modules|\.ts\b|\/(?:tmp|home|usr)\/|\b(?:ECONN|ENOTFOUND|EPIPE|EAI_)|\bselect .* from |\n\s+at /;

/** Codes of requests that match no operation. `info.description` documents them. */
const routingCodes: ReadonlySet<string> = new Set(['path_not_found', 'method_not_allowed']);

/** Codes of the providers in the contract tests. */
const providersCodes: ReadonlySet<string> = new Set([
  'DataInspectionFailed',
  'InputTextSensitiveContentDetected',
  'invalid_argument',
  'sensitive_words_detected',
]);

/**
 * Checks and records the error in a response of a gateway. Ignores responses of the mock.
 *
 * @throws Error when errors.yaml does not list the error, no example of the operation shows it, or it reveals internal
 *   details
 */
export function recordErrorResponse(
  { isGateway }: Target,
  { id, responses }: DocumentedOperation,
  request: { method: string; path: string },
  response: HttpResponse,
): void {
  if (isGateway !== true) return;
  const error = recordResponseBody(request, response.status, response.body.toString('utf8'));
  const code = error?.split(' ')[2];
  if (error !== undefined && !providersCodes.has(code ?? '')) {
    if (!knownErrors.has(error)) throw new Error(`errors.yaml has no ${error}`);
    const shown = routingCodes.has(code ?? '') || documentedCodes(responses, response.status).has(code);
    if (code !== undefined && !shown) throw new Error(`no example of ${id} shows ${response.status} ${code}`);
  }
  if (error !== undefined && internalDetails.test(response.body.toString('utf8')))
    throw new Error(`an error reveals internal details: ${excerpt(response)}`);
}

/** Returns the codes in the examples of a response. */
function documentedCodes(responses: DocumentedOperation['responses'], status: number): ReadonlySet<unknown> {
  const content = responses.find((one) => one.status === status)?.content ?? [];
  const values = content.flatMap(({ examples }) => examples.map(({ value }) => value));
  return new Set(values.map((value) => isObject(value) && isObject(value.error) && value.error.code));
}
