import { expect, test } from 'vitest';
import { betaFailure, rejectionFailure } from '../../server/providers/rejection.ts';

const words = { text: (text: string) => text, json: (bytes: Buffer) => bytes };

test.each([
  [400, 400],
  [404, 404],
  [413, 413],
  [415, 415],
  [409, 400],
  [418, 400],
  [422, 400],
])("a provider's %i is told as %i", (status, told) => {
  const rejection = { status, body: Buffer.alloc(0), code: 'Code', message: 'Words.', retryAfter: undefined };
  expect(rejectionFailure(rejection)).toMatchObject({ status: told, code: 'Code', message: 'Words.' });
});

test.each([
  [0, undefined],
  [1001, 504],
  [1002, 429],
  [1039, 429],
  [1042, 400],
  [2013, 400],
  [1004, 502],
  [1008, 502],
  [9999, 502],
])('the verdict %i of a beta model is %s', (status_code, status) => {
  const failure = betaFailure({ base_resp: { status_code, status_msg: 'Words.' } }, words as never);
  expect(failure?.status).toBe(status);
});
