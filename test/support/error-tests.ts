import { expect, test } from 'vitest';
import { type OperationFacts, type OperationId, operations } from '../../generated/operations.ts';
import { type DocumentedOperation, pathBelow } from '../conformance/contract/documented.ts';
import type { ExpectedError } from '../conformance/wire/error.ts';
import type { Variation } from '../conformance/wire/exchange.ts';
import type { Target } from '../conformance/wire/http-response.ts';
import { exchange } from './exchange.ts';
import { assertConforms, expectError, expectRoutingError } from './expectations.ts';

/** A request that the operation rejects with 400. */
export interface InvalidRequest extends Variation {
  /** The field that the message must name. */
  field: string;
  /** The limit that the message must contain. */
  limit?: number | string;
  /** Default: `invalid_request`. */
  code?: string;
}

const facts = ({ id, aliasOf = id }: DocumentedOperation): OperationFacts =>
  operations[aliasOf as OperationId];

/** Tests the errors that the mock and the gateway have in common. */
export function testErrors(
  target: Target,
  operation: DocumentedOperation,
  invalid: Readonly<Record<string, InvalidRequest>>,
): void {
  const rejects = async (status: number, variation: Variation, expected: ExpectedError) => {
    const response = assertConforms(await exchange(target, operation, variation), operation);
    expectError(response, status, expected);
  };
  const code = 'invalid_request';

  if (facts(operation).security !== 'none') {
    test('401 without a key', () =>
      rejects(401, { headers: { authorization: undefined } }, { code: 'invalid_api_key' }));
  }
  if (operation.requests.length > 0) {
    test('400 malformed JSON', () => rejects(400, { body: '{"model": ' }, { code, includes: ['JSON'] }));
    test('400 without a body', () =>
      rejects(400, { body: null, headers: { 'content-type': undefined } }, { code, field: 'body' }));
    test('400 a body that is not an object', () => rejects(400, { body: '[]' }, { code, field: 'body' }));
    test('415 text instead of JSON', () =>
      rejects(
        415,
        { body: 'hello', headers: { 'content-type': 'text/plain' } },
        { includes: ['text/plain'] },
      ));
  }
  testInvalidRequests(target, operation, invalid);
  const below = pathBelow(operation);
  if (below !== undefined) {
    test('404 below the path', async () => {
      const response = await exchange(target, { ...operation, path: below });
      expect(response.status).toBe(404);
      expectRoutingError(response, 'path_not_found', facts(operation).errorFamily);
    });
  }
  test('405 with another method', async () => {
    const response = await exchange(target, operation, { method: 'PUT' });
    expect(response.status).toBe(405);
    expectRoutingError(response, 'method_not_allowed', facts(operation).errorFamily);
    expect(response.headers.get('allow')?.split(', ')).toContain(operation.method.toUpperCase());
  });
}

/** Tests that requests are rejected with 400 and a message that names the field and the limit. */
export function testInvalidRequests(
  target: Target,
  operation: DocumentedOperation,
  invalid: Readonly<Record<string, InvalidRequest>>,
): void {
  for (const [title, { field, limit, code = 'invalid_request', ...variation }] of Object.entries(invalid)) {
    const includes = limit === undefined ? [] : [String(limit)];
    test(`400 ${title}`, async () => {
      const response = assertConforms(await exchange(target, operation, variation), operation);
      expectError(response, 400, { code, field, includes });
    });
  }
}
