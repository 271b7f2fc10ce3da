import { describe, inject } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import {
  type DocumentedOperation,
  documented,
  documentedOperations,
} from '../conformance/contract/documented.ts';
import { type Variation } from '../conformance/wire/exchange.ts';
import type { HttpResponse } from '../conformance/wire/http-response.ts';
import { type InvalidRequest, testErrors, testInvalidRequests } from './error-tests.ts';
import { exchange } from './exchange.ts';
import { assertConforms } from './expectations.ts';
import { testLimits } from './limit-tests.ts';
import { testMockResponses } from './mock-responses.ts';
import { requestUpgrade } from './send-head.ts';
import type { LimitedKeys } from './targets.ts';

/**
 * Sends a documented request with variations to the gateway, under one of its prefixes. Checks the response against
 * the contract.
 */
export type Call = (
  variation?: Variation & { as?: keyof LimitedKeys; prefix?: string },
) => Promise<HttpResponse>;

export interface OperationCases {
  /** Invalid requests by title. Sent to the mock and to the gateway. */
  invalid?: Readonly<Record<string, InvalidRequest>>;
  /** Registers the tests of the gateway. `open` sends the request as a WebSocket handshake. */
  gatewayTests: (call: Call, open: Call) => void;
}

/**
 * Registers the tests of an operation: the mock against the contract, and the gateway against the meaning of the operation.
 * The conformance kit tests the contract on the gateway (`conformance.test.ts`).
 */
export function describeOperation(id: OperationId, { invalid = {}, gatewayTests }: OperationCases): void {
  const operation = documented(id);
  const aliases = [...documentedOperations.values()].filter(({ aliasOf }) => aliasOf === id);
  describe(id, () => {
    describe('mock', () => {
      const target = inject('mock');
      testMockResponses({ mock: target, prism: inject('prism') }, operation);
      testErrors(target, operation, invalid);
      testLimits(target, operation);
    });
    describe('gateway', () => {
      const target = inject('gateway');
      testInvalidRequests(target, operation, invalid);
      const callWith =
        (send: typeof exchange): Call =>
        async ({ as, prefix, ...variation } = {}) => {
          const caller = as === undefined ? target : { ...target, key: inject('limitedKeys')[as] };
          const called = prefix === undefined ? operation : operationUnder(prefix, operation, aliases);
          return assertConforms(await send(caller, called, variation), called);
        };
      gatewayTests(callWith(exchange), callWith(requestUpgrade));
    });
    for (const alias of aliases) testAlias(alias, invalid);
  });
}

/** Registers the tests of the operation under another prefix. */
function testAlias(alias: DocumentedOperation, invalid: NonNullable<OperationCases['invalid']>): void {
  describe(`at ${alias.path}`, () => {
    describe('mock', () => {
      const target = inject('mock');
      testMockResponses({ mock: target, prism: inject('prism') }, alias);
      testErrors(target, alias, invalid);
    });
    describe('gateway', () => {
      const target = inject('gateway');
      testInvalidRequests(target, alias, invalid);
    });
  });
}

/** Returns the operation as it is documented under a prefix. */
function operationUnder(
  prefix: string,
  operation: DocumentedOperation,
  aliases: readonly DocumentedOperation[],
): DocumentedOperation {
  const all = [operation, ...aliases].filter(({ path }) => path.startsWith(`${prefix}/`));
  // One prefix can be the start of another, so the shortest path wins.
  const found = all.toSorted((left, right) => left.path.length - right.path.length)[0];
  if (found === undefined) throw new Error(`${operation.id} has no path under ${prefix}`);
  return found;
}
