import { expect, inject, test } from 'vitest';
import type { DocumentedOperation } from '../../client/conformance/contract/documented.ts';
import type { Target } from '../../client/conformance/wire/answer.ts';
import { type Variation } from '../../client/conformance/wire/exchange.ts';
import { type OperationFacts, type OperationId, operations } from '../../generated/operations.ts';
import { exchange } from './exchange.ts';
import { checked, type Expected, expectOutside, expectRefusal } from './expectations.ts';
import { announceBody } from './send-head.ts';

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
  for (const [title, { names, limit, code: own = code, ...variation }] of Object.entries(invalid)) {
    const says = limit === undefined ? [] : [String(limit)];
    test(`400 ${title}`, () => refused(400, variation, { code: own, names, says }));
  }
  test('404 below the path', async () => {
    const path = `${operation.path.replace(/\/$/, '')}/none/none`;
    const answer = await exchange(target, { ...operation, path });
    expect(answer.status).toBe(404);
    expectOutside(answer, 'path_not_found');
  });
  test('405 with another method', async () => {
    const answer = await exchange(target, operation, { method: 'PUT' });
    expect(answer.status).toBe(405);
    expectOutside(answer, 'method_not_allowed');
    expect(answer.headers.get('allow')?.split(', ')).toContain(operation.method.toUpperCase());
  });
}

/** Tests what only a gateway can refuse: it knows its keys, and holds a body to a size. */
export function testKeys(target: Target, operation: DocumentedOperation): void {
  const { security, role, bodyLimitMb } = facts(operation);
  const takesBody = operation.requests.length > 0;
  const sent = async (variation: Variation) =>
    checked(await exchange(target, operation, variation), operation);
  const unknown = { code: 'invalid_api_key' };

  if (security !== 'none') {
    test('401 with a wrong key', async () => {
      expectRefusal(await sent({ headers: { authorization: 'Bearer sk-wrong' } }), 401, unknown);
    });
    test('401 with a revoked key', async () => {
      const authorization = `Bearer ${inject('lesserKeys').revoked}`;
      expectRefusal(await sent({ headers: { authorization } }), 401, unknown);
    });
  }
  if (security !== 'none' && takesBody) {
    test('401 before the body is looked at', async () => {
      const headers = { authorization: undefined, 'content-type': 'text/plain' };
      expectRefusal(await sent({ headers, body: '{' }), 401, unknown);
    });
  }
  if (role !== undefined) {
    test(`403 without the role ${role}, before anything else is looked at`, async () => {
      const authorization = `Bearer ${inject('lesserKeys').restricted}`;
      const nonsense = { headers: { authorization, 'content-type': 'text/plain' }, body: '{' };
      const path = { id: 'nobody', name: 'nobody' };
      for (const variation of takesBody ? [{}, nonsense, { path }] : [{}, { path }]) {
        const answer = await sent({ headers: { authorization }, ...variation });
        expectRefusal(answer, 403, { code: 'access_denied', says: [role] });
      }
    });
  }
  if (security === 'bearer_or_api_key') {
    const header = { 'x-api-key': target.key };
    test('takes the key in x-api-key, alone or beside the same Bearer key', async () => {
      const alone = await sent({ headers: { ...header, authorization: undefined } });
      const beside = await sent({ headers: header });
      expect([alone.status, beside.status]).not.toContain(401);
    });
    test('401 with two different keys', async () => {
      expectRefusal(await sent({ headers: { 'x-api-key': 'sk-wrong' } }), 401, unknown);
    });
  }
  if (takesBody) {
    test('413 a body over the limit, before it is sent', async () => {
      const megabytes = Math.min(bodyLimitMb ?? Number.NaN, inject('bodyLimitMb'));
      const answer = await announceBody(target, operation, megabytes * 1024 * 1024 + 1);
      const expected = { code: 'request_too_large', names: 'body', says: [`${megabytes} MB`] };
      expectRefusal(checked(answer, operation), 413, expected);
    });
  }
}
