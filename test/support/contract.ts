import { describe, inject } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import {
  type DocumentedOperation,
  documented,
  documentedOperations,
} from '../conformance/contract/documented.ts';
import { type Variation } from '../conformance/wire/exchange.ts';
import type { HttpResponse } from '../conformance/wire/http-response.ts';
import { exchange } from './exchange.ts';
import { checked } from './expectations.ts';
import { testLimits } from './limit-tests.ts';
import { testMockedAnswers } from './mocked-answers.ts';
import { type InvalidRequest, testInvalid, testRefusals } from './refusals.ts';
import { requestUpgrade } from './send-head.ts';
import type { LimitedKeys } from './targets.ts';

/**
 * Sends a varied documented request to the gateway, under one of its prefixes. The answer is checked against the
 * contract before it comes back.
 */
export type Call = (
  variation?: Variation & { as?: keyof LimitedKeys; prefix?: string },
) => Promise<HttpResponse>;

export interface OperationCases {
  /** By what is wrong with each. Checked on the mock and on the gateway. */
  invalid?: Readonly<Record<string, InvalidRequest>>;
  /** Registers the tests of what the gateway does. `open` calls the operation as the handshake of a WebSocket. */
  carriesOut: (call: Call, open: Call) => void;
}

/**
 * Holds the mock to an operation's contract on the wire, and the gateway to what the operation means; what any server of
 * the contract has to do, the conformance kit asks of it in conformance.test.ts.
 */
export function describeOperation(id: OperationId, { invalid = {}, carriesOut }: OperationCases): void {
  const operation = documented(id);
  const aliases = [...documentedOperations.values()].filter(({ aliasOf }) => aliasOf === id);
  describe(id, () => {
    describe('mock', () => {
      const target = inject('mock');
      testMockedAnswers({ mock: target, prism: inject('prism') }, operation);
      testRefusals(target, operation, invalid);
      testLimits(target, operation);
    });
    describe('gateway', () => {
      const target = inject('gateway');
      testInvalid(target, operation, invalid);
      const by =
        (send: typeof exchange): Call =>
        async ({ as, prefix, ...variation } = {}) => {
          const caller = as === undefined ? target : { ...target, key: inject('limitedKeys')[as] };
          const called = prefix === undefined ? operation : under(prefix, operation, aliases);
          return checked(await send(caller, called, variation), called);
        };
      carriesOut(by(exchange), by(requestUpgrade));
    });
    for (const alias of aliases) testAlias(alias, invalid);
  });
}

/** Tests that another prefix takes and refuses what the operation does. */
function testAlias(alias: DocumentedOperation, invalid: NonNullable<OperationCases['invalid']>): void {
  describe(`at ${alias.path}`, () => {
    describe('mock', () => {
      const target = inject('mock');
      testMockedAnswers({ mock: target, prism: inject('prism') }, alias);
      testRefusals(target, alias, invalid);
    });
    describe('gateway', () => {
      const target = inject('gateway');
      testInvalid(target, alias, invalid);
    });
  });
}

/** The operation as it is documented under a prefix. */
function under(
  prefix: string,
  operation: DocumentedOperation,
  aliases: readonly DocumentedOperation[],
): DocumentedOperation {
  const all = [operation, ...aliases].filter(({ path }) => path.startsWith(`${prefix}/`));
  // One prefix may begin like another.
  const found = all.toSorted((left, right) => left.path.length - right.path.length)[0];
  if (found === undefined) throw new Error(`${operation.id} has no path under ${prefix}`);
  return found;
}
