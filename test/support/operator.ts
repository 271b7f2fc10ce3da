import { expect } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import type { Json } from '../../openapi/tools/document.ts';
import { documented } from '../conformance/contract/documented.ts';
import { type Variation } from '../conformance/wire/exchange.ts';
import { type HttpResponse, jsonOf, type Target } from '../conformance/wire/http-response.ts';
import { exchange } from './exchange.ts';
import { assertConforms } from './expectations.ts';

/** Calls an admin operation, which must succeed. Returns `data` of the response. */
export async function callAdmin<Data = undefined>(
  target: Target,
  id: OperationId,
  variation: Variation = {},
): Promise<Data> {
  const response: HttpResponse = assertConforms(
    await exchange(target, documented(id), variation),
    documented(id),
  );
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as { data: Data }).data;
}

export interface User {
  id: number;
  name: string;
}

/** Creates a user of group `default`. */
export const newUser = (target: Target, fields: { [field: string]: Json } = {}): Promise<User> =>
  callAdmin(target, 'createUser', { body: { name: 'someone', ...fields } });

export interface Token {
  id: number;
  key: string;
  remain_quota: number;
}

/** Creates a key of a user, by default without quota. */
export const newToken = (
  target: Target,
  userId: number,
  fields: { [field: string]: Json } = {},
): Promise<Token> =>
  callAdmin(target, 'createUserToken', {
    path: { id: String(userId) },
    body: { name: 'a key', remain_quota: 0, ...fields },
  });
