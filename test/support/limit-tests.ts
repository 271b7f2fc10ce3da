import { expect, test } from 'vitest';
import type { JsonObject } from '../../openapi/tools/document.ts';
import { limitRequests, sendAll } from '../conformance/checks/limits.ts';
import type { DocumentedOperation } from '../conformance/contract/documented.ts';
import type { Target } from '../conformance/wire/http-response.ts';
import { violations } from '../conformance/wire/wire.ts';
import { exchange } from './exchange.ts';

/** Schemas that operations share are tested with the first of them. */
const checkedSchemas = new Set<JsonObject>();

/** Tests that the target accepts a value at each limit of an operation and rejects one beyond it, naming the field. */
export function testLimits(target: Target, operation: DocumentedOperation): void {
  // Deriving the values takes longer than a server keeps an idle connection, so it comes first.
  const { requests, missing } = limitRequests(operation, checkedSchemas);
  test('accepts a value at each limit and rejects one beyond', async () => {
    expect(missing, 'limits that no example reaches').toEqual([]);
    const failed = await sendAll(requests, async (variation) => {
      const response = await exchange(target, operation, variation);
      return { response, problems: violations(operation, response), curl: '' };
    });
    expect(failed).toEqual([]);
  });
}
