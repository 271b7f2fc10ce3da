import { request as open } from 'node:http';
import { describe, expect, inject, test } from 'vitest';
import { type OperationId, operations } from '../../generated/operations.ts';
import { type DocumentedOperation, documented, documentedOperations } from './documented.ts';
import { type Answer, exchange, jsonOf, pathOf, type Target, type Variation } from './exchange.ts';
import type { LesserKeys } from './targets.ts';
import { excerpt, violations } from './wire.ts';

/** A request that the operation refuses with 400. */
export interface InvalidRequest extends Variation {
  /** The field that the gateway's message must name. */
  names: string;
  /** The limit that the message must tell. */
  limit?: number | string;
}

/** Sends a varied documented request to the gateway. The answer is checked against the contract before it comes back. */
export type Call = (variation?: Variation & { as?: keyof LesserKeys }) => Promise<Answer>;

export interface OperationCases {
  /** By what is wrong with each. Checked on the mock and on the gateway. */
  invalid?: Readonly<Record<string, InvalidRequest>>;
  /** Registers the tests of what the gateway does. Left out exactly while the contract lists 501. */
  carriesOut?: (call: Call) => void;
}

/**
 * Holds an operation to its contract on the wire, on the mock and on the gateway: every documented success of
 * the mock, refusals of both in the operation's error family, and what the gateway does with a good request.
 */
export function describeOperation(id: OperationId, { invalid = {}, carriesOut }: OperationCases): void {
  const operation = documented(id);
  describe(id, () => {
    describe('mock', () => {
      const target = inject('mock');
      mockedAnswers(target, operation);
      refusals(target, operation, invalid, false);
    });
    describe('gateway', () => {
      const target = inject('gateway');
      refusals(target, operation, invalid, true);
      keys(target, operation);
      if (operations[id].statuses.some((status) => status === 501)) {
        if (carriesOut !== undefined) throw new Error(`${id} is carried out: take 501 out of its contract`);
        notImplemented(target, operation);
        return;
      }
      if (carriesOut === undefined) throw new Error(`${id} lists no 501: its test must say what it carries out`);
      carriesOut(async ({ as, ...variation } = {}) => {
        const caller = as === undefined ? target : { ...target, key: inject('lesserKeys')[as] };
        return checked(await exchange(caller, operation, variation), operation, true);
      });
    });
  });
}

/** A gateway's own refusal: the status, and the request id in body and header alike where the family has it in both. */
export function expectRefusal(answer: Answer, status: number, expected: { code?: string; says?: string[] } = {}): void {
  expect(answer.status, excerpt(answer)).toBe(status);
  const { error, message } = jsonOf(answer) as { error?: Record<string, string>; message?: string };
  if (error !== undefined) expect(error.request_id).toBe(answer.headers.get('x-request-id'));
  if (error !== undefined && expected.code !== undefined) expect(error.code).toBe(expected.code);
  for (const part of expected.says ?? []) expect(error?.message ?? message).toContain(part);
}

/** The operation under each of its paths. */
export const everyPath = (operation: DocumentedOperation): DocumentedOperation[] => [
  operation,
  ...[...documentedOperations.values()].filter(({ aliasOf }) => aliasOf === operation.id),
];

function checked(answer: Answer, operation: DocumentedOperation, realMedia: boolean): Answer {
  expect(violations(operation, answer, { realMedia })).toEqual([]);
  return answer;
}

const secured = ({ id, aliasOf }: DocumentedOperation) => operations[(aliasOf ?? id) as OperationId].security;

/** Every documented success: each example as it stands, and each media type that has none. */
function mockedAnswers(target: Target, operation: DocumentedOperation): void {
  const successes = operation.responses.filter(({ status }) => status >= 200 && status < 400);
  for (const { status, content } of successes) {
    if (content.length === 0) {
      test(`${status}`, async () => {
        const answer = await exchange(target, operation, { headers: { prefer: `code=${status}` } });
        expect(checked(answer, operation, false).status).toBe(status);
      });
    }
    for (const { mediaType, examples } of content) {
      for (const example of examples.length === 0 ? [undefined] : examples) {
        test(`${status} ${example?.name ?? mediaType}`, async () => {
          const prefer = example === undefined ? `code=${status}` : `code=${status}, example=${example.name}`;
          const answer = await exchange(target, operation, { headers: { prefer, accept: mediaType } });
          expect(checked(answer, operation, false).status).toBe(status);
          if (example === undefined) expect(answer.headers.get('content-type')).toBe(mediaType);
          else if (mediaType === 'application/json') expect(jsonOf(answer)).toEqual(example.value);
          else expect(answer.body.toString('utf8')).toBe(example.value);
        });
      }
    }
  }
  if (successes.length === 0) {
    test('426 to a request that is no socket', async () => {
      expect(checked(await exchange(target, operation), operation, false).status).toBe(426);
    });
  }
}

/** What both targets refuse. Only the gateway's own messages name the field and the limit. */
function refusals(
  target: Target,
  operation: DocumentedOperation,
  invalid: Readonly<Record<string, InvalidRequest>>,
  gateway: boolean,
): void {
  const refused = async (status: number, variation: Variation, expected: { code?: string; says?: string[] } = {}) => {
    const answer = checked(await exchange(target, operation, variation), operation, gateway);
    if (gateway) expectRefusal(answer, status, expected);
    else expect(answer.status, excerpt(answer)).toBe(status);
  };
  const code = 'invalid_request';

  if (secured(operation) !== 'none') {
    test('401 without a key', () => refused(401, { headers: { authorization: undefined } }, { code: 'invalid_api_key' }));
  }
  if (operation.requests.length > 0) {
    test('400 malformed JSON', () => refused(400, { body: '{"model": ' }, { code, says: ['JSON'] }));
    test('400 without a body', () =>
      refused(400, { body: null, headers: { 'content-type': undefined } }, { code, says: ['body'] }));
    test('400 a body that is no object', () => refused(400, { body: '[]' }, { code, says: ['body'] }));
    test('415 text instead of JSON', () =>
      refused(415, { body: 'hello', headers: { 'content-type': 'text/plain' } }, { says: ['text/plain'] }));
  }
  for (const [title, { names, limit, ...variation }] of Object.entries(invalid)) {
    const says = limit === undefined ? [names] : [names, String(limit)];
    test(`400 ${title}`, () => refused(400, variation, { code, says }));
  }
  test('404 below the path', async () => {
    const below = { ...operation, path: `${operation.path.replace(/\/$/, '')}/none/none` };
    const answer = await exchange(target, below);
    expect(answer.status).toBe(404);
    if (gateway) expectOutside(answer, 'path_not_found');
  });
  test('405 with another method', async () => {
    const answer = await exchange(target, operation, { method: 'PUT' });
    expect(answer.status).toBe(405);
    if (!gateway) return;
    expectOutside(answer, 'method_not_allowed');
    expect(answer.headers.get('allow')?.split(', ')).toContain(operation.method.toUpperCase());
  });
}

/** The error of a request that no operation takes has the generic form. */
function expectOutside(answer: Answer, code: string): void {
  const request_id = answer.headers.get('x-request-id');
  expect(request_id).toMatch(/^req_/);
  expect(jsonOf(answer)).toEqual({ error: { code, message: expect.any(String), request_id } });
}

/** What only a gateway can refuse: it knows its keys, and holds a body to a size. */
function keys(target: Target, operation: DocumentedOperation): void {
  const security = secured(operation);
  const sent = async (variation: Variation) => checked(await exchange(target, operation, variation), operation, true);
  const unknown = { code: 'invalid_api_key' };
  if (security !== 'none') {
    test('401 with a wrong key', async () => {
      expectRefusal(await sent({ headers: { authorization: 'Bearer sk-wrong' } }), 401, unknown);
    });
    test('401 with a revoked key', async () => {
      const authorization = `Bearer ${inject('lesserKeys').revoked}`;
      expectRefusal(await sent({ headers: { authorization } }), 401, unknown);
    });
    test('401 before the body is looked at', async () => {
      const headers = { authorization: undefined, 'content-type': 'text/plain' };
      expectRefusal(await sent({ headers, ...(operation.requests.length > 0 && { body: '{' }) }), 401, unknown);
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
  if (operation.requests.length > 0) {
    test('413 a body over the limit, before it is sent', async () => {
      const limit = operations[operation.id as OperationId as 'createSpeech'] as { bodyLimitMb?: number };
      const megabytes = limit.bodyLimitMb ?? inject('bodyLimitMb');
      const answer = await announce(target, operation, megabytes * 1024 * 1024 + 1);
      expectRefusal(checked(answer, operation, true), 413, { code: 'request_too_large', says: [String(megabytes)] });
    });
  }
}

/** Sends the head of a request that announces a body, and none of the body. */
function announce(target: Target, operation: DocumentedOperation, size: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = open(target.url + pathOf(operation), {
      method: operation.method,
      headers: {
        authorization: `Bearer ${target.key}`,
        'content-type': 'application/json',
        'content-length': size,
      },
    });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const headers = new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
        resolve({ status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks) });
        request.destroy();
      });
    });
    request.on('error', reject);
    request.flushHeaders();
  });
}

/** A good request is understood, and refused only because nothing carries it out yet. */
function notImplemented(target: Target, operation: DocumentedOperation): void {
  const examples = operation.requests.flatMap((media) => media.examples.map(({ name }) => ({ name, media })));
  const paths = everyPath(operation);
  for (const path of paths) {
    const at = paths.length > 1 ? ` at ${path.path}` : '';
    for (const example of examples.length === 0 ? [undefined] : examples) {
      const title = example === undefined ? '' : ` ${example.name} (${example.media.mediaType})`;
      test(`501${title}${at}`, async () => {
        const answer = await exchange(target, path, { example: example?.name });
        expectRefusal(checked(answer, path, true), 501, { code: 'not_implemented' });
      });
    }
  }
}
