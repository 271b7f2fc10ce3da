import { expect, test } from 'vitest';
import { boundedRequests, tryAll } from '../../client/conformance/checks/limits.ts';
import type { DocumentedOperation } from '../../client/conformance/contract/documented.ts';
import type { Target } from '../../client/conformance/wire/answer.ts';
import { violations } from '../../client/conformance/wire/wire.ts';
import type { JsonObject } from '../../openapi/tools/document.ts';
import { exchange } from './exchange.ts';

/** Schemas that operations share are tried with the first. */
const taken = new Set<JsonObject>();

/**
 * Tests that each limit of an operation's requests is where the contract says: a value at it is taken, one beyond it
 * is refused with the field's name.
 */
export function testLimits(target: Target, operation: DocumentedOperation): void {
  // Before any connection is open: looking for the values takes longer than a server keeps an idle one.
  const { requests, missing } = boundedRequests(operation, taken);
  test('takes a value at each limit and refuses one beyond', async () => {
    expect(missing, 'limits that no example comes near').toEqual([]);
    const failed = await tryAll(requests, async (variation) => {
      const answer = await exchange(target, operation, variation);
      return { answer, problems: violations(operation, answer), curl: '' };
    });
    expect(failed).toEqual([]);
  });
}
