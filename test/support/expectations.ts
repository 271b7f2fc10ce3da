import { expect } from 'vitest';
import type { OperationFacts } from '../../generated/operations.ts';
import type { DocumentedOperation } from '../conformance/contract/documented.ts';
import { type ExpectedError, fieldsOf } from '../conformance/wire/error.ts';
import { type HttpResponse, jsonOf } from '../conformance/wire/http-response.ts';
import { excerpt, violations } from '../conformance/wire/wire.ts';

/** Checks a response against the contract. Returns it. */
export function assertConforms(response: HttpResponse, operation: DocumentedOperation): HttpResponse {
  expect(violations(operation, response)).toEqual([]);
  return response;
}

/** Checks an error of the gateway in any family: status, code and message, and the same request id in body and header. */
export function expectError(
  response: HttpResponse,
  status: number,
  { code, field, includes = [] }: ExpectedError = {},
): void {
  expect(response.status, excerpt(response)).toBe(status);
  const body = jsonOf(response) as { error?: Record<string, string>; message?: string };
  const { error, message = error?.message ?? '' } = body;
  if (error !== undefined) {
    expect(error.request_id).toBe(response.headers.get('x-request-id'));
    if (code !== undefined) expect(error.code).toBe(code);
  }
  if (field !== undefined) expect(fieldsOf(message), message).toContain(field);
  for (const part of includes) expect(message).toContain(part);
}

/** Checks a provider error on a native route: a flat object with the request id of the provider. */
export function expectProviderError(response: HttpResponse, status: number, code: string): void {
  expect(response.status, excerpt(response)).toBe(status);
  const body = jsonOf(response) as Record<string, string>;
  expect(Object.keys(body).sort()).toEqual(['code', 'message', 'request_id']);
  expect(body.code).toBe(code);
  expect(body.request_id).not.toBe(response.headers.get('x-request-id'));
}

/** Checks the error of a request that matches no operation. It has the format of the family near its path. */
export function expectRoutingError(
  response: HttpResponse,
  code: string,
  family: OperationFacts['errorFamily'] = 'generic',
): void {
  const request_id = response.headers.get('x-request-id');
  expect(request_id).toMatch(/^req_/);
  const message = expect.any(String);
  const error = { code, message, request_id };
  if (family === 'management') expect(jsonOf(response)).toEqual({ success: false, message });
  else if (family !== 'messages') expect(jsonOf(response)).toEqual({ error });
  else {
    const type = response.status === 404 ? 'not_found_error' : 'invalid_request_error';
    expect(jsonOf(response)).toEqual({ type: 'error', error: { type, ...error }, request_id });
    expect(response.headers.get('request-id')).toBe(request_id);
  }
}
