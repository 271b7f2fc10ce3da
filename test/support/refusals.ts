import { expect, test } from 'vitest';
import { type OperationFacts, type OperationId, operations } from '../../generated/operations.ts';
import { type DocumentedOperation, pathBelow } from '../conformance/contract/documented.ts';
import type { Variation } from '../conformance/wire/exchange.ts';
import type { Target } from '../conformance/wire/http-response.ts';
import { exchange } from './exchange.ts';
import { checked, type Expected, expectOutside, expectRefusal } from './expectations.ts';

/** A request that the operation refuses with 400. */
export interface InvalidRequest extends Variation {
  /** The field that the gateway's message must blame. */
  names: string;
  /** The limit that the message must tell. */
  limit?: number | string;
  /** Default: `invalid_request`. */
  code?: string;
}

const facts = ({ id, aliasOf = id }: DocumentedOperation): OperationFacts =>
  operations[aliasOf as OperationId];

/** Tests what mock and gateway refuse alike, in the same words: those that name the field and the limit. */
export function testRefusals(
  target: Target,
  operation: DocumentedOperation,
  invalid: Readonly<Record<string, InvalidRequest>>,
): void {
  const refused = async (status: number, variation: Variation, expected: Expected) => {
    const answer = checked(await exchange(target, operation, variation), operation);
    expectRefusal(answer, status, expected);
  };
  const code = 'invalid_request';

  if (facts(operation).security !== 'none') {
    test('401 without a key', () =>
      refused(401, { headers: { authorization: undefined } }, { code: 'invalid_api_key' }));
  }
  if (operation.requests.length > 0) {
    test('400 malformed JSON', () => refused(400, { body: '{"model": ' }, { code, says: ['JSON'] }));
    test('400 without a body', () =>
      refused(400, { body: null, headers: { 'content-type': undefined } }, { code, names: 'body' }));
    test('400 a body that is no object', () => refused(400, { body: '[]' }, { code, names: 'body' }));
    test('415 text instead of JSON', () =>
      refused(415, { body: 'hello', headers: { 'content-type': 'text/plain' } }, { says: ['text/plain'] }));
  }
  testInvalid(target, operation, invalid);
  const below = pathBelow(operation);
  if (below !== undefined) {
    test('404 below the path', async () => {
      const answer = await exchange(target, { ...operation, path: below });
      expect(answer.status).toBe(404);
      expectOutside(answer, 'path_not_found');
    });
  }
  test('405 with another method', async () => {
    const answer = await exchange(target, operation, { method: 'PUT' });
    expect(answer.status).toBe(405);
    expectOutside(answer, 'method_not_allowed');
    expect(answer.headers.get('allow')?.split(', ')).toContain(operation.method.toUpperCase());
  });
}

/** Tests requests that are refused in words that name the field and the limit. */
export function testInvalid(
  target: Target,
  operation: DocumentedOperation,
  invalid: Readonly<Record<string, InvalidRequest>>,
): void {
  for (const [title, { names, limit, code = 'invalid_request', ...variation }] of Object.entries(invalid)) {
    const says = limit === undefined ? [] : [String(limit)];
    test(`400 ${title}`, async () => {
      const answer = checked(await exchange(target, operation, variation), operation);
      expectRefusal(answer, 400, { code, names, says });
    });
  }
}
