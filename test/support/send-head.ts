import type { DocumentedOperation } from '../conformance/contract/documented.ts';
import { pathOf, type Variation } from '../conformance/wire/exchange.ts';
import type { HttpResponse, Target } from '../conformance/wire/http-response.ts';
import * as upgrades from '../conformance/wire/send-head.ts';
import { recordErrorResponse } from './error-responses.ts';

/** Requests a WebSocket upgrade and records an error in the response. */
export async function requestUpgrade(
  target: Target,
  operation: DocumentedOperation,
  variation: Variation = {},
): Promise<HttpResponse> {
  const response = await upgrades.requestUpgrade(target, operation, variation);
  recordErrorResponse(
    target,
    operation,
    { method: operation.method, path: pathOf(operation, variation) },
    response,
  );
  return response;
}
