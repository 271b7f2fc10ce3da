import { expect } from 'vitest';
import type { DocumentedOperation } from '../conformance/contract/documented.ts';
import { fieldsOf } from '../conformance/wire/error.ts';
import { type HttpResponse, jsonOf } from '../conformance/wire/http-response.ts';
import { excerpt, violations } from '../conformance/wire/wire.ts';

/** What the gateway's own refusal must say. */
export interface Expected {
  code?: string;
  /** The field that the message blames. */
  names?: string;
  /** What the message must contain. */
  says?: string[];
}

/** The answer itself, once it is known to be as documented. */
export function checked(answer: HttpResponse, operation: DocumentedOperation): HttpResponse {
  expect(violations(operation, answer)).toEqual([]);
  return answer;
}

/** The gateway's own refusal in any family: status, code and message, and one request id in body and header. */
export function expectRefusal(
  answer: HttpResponse,
  status: number,
  { code, names, says = [] }: Expected = {},
): void {
  expect(answer.status, excerpt(answer)).toBe(status);
  const body = jsonOf(answer) as { error?: Record<string, string>; message?: string };
  const { error, message = error?.message ?? '' } = body;
  if (error !== undefined) {
    expect(error.request_id).toBe(answer.headers.get('x-request-id'));
    if (code !== undefined) expect(error.code).toBe(code);
  }
  if (names !== undefined) expect(fieldsOf(message), message).toContain(names);
  for (const part of says) expect(message).toContain(part);
}

/** A provider's refusal on a native route: flat, with the provider's own request id. */
export function expectRejection(answer: HttpResponse, status: number, code: string): void {
  expect(answer.status, excerpt(answer)).toBe(status);
  const body = jsonOf(answer) as Record<string, string>;
  expect(Object.keys(body).sort()).toEqual(['code', 'message', 'request_id']);
  expect(body.code).toBe(code);
  expect(body.request_id).not.toBe(answer.headers.get('x-request-id'));
}

/** The error of a request that belongs to no operation has the generic form. */
export function expectOutside(answer: HttpResponse, code: string): void {
  const request_id = answer.headers.get('x-request-id');
  expect(request_id).toMatch(/^req_/);
  expect(jsonOf(answer)).toEqual({ error: { code, message: expect.any(String), request_id } });
}
