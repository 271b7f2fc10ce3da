import type { DocumentedOperation } from '../conformance/contract/documented.ts';
import { requestOf, send, type Variation } from '../conformance/wire/exchange.ts';
import type { HttpResponse, Target } from '../conformance/wire/http-response.ts';
import { recordErrorResponse } from './error-responses.ts';

/** Sends a documented request with variations and records an error in the response. */
export async function exchange(
  target: Target,
  operation: DocumentedOperation,
  variation: Variation = {},
): Promise<HttpResponse> {
  const request = requestOf(target, operation, variation);
  const response = await send(request);
  recordErrorResponse(target, operation, request, response);
  return response;
}
