import { describe, expect, test } from 'vitest';
import { type OperationId, operationIds, operations } from '../../generated/operations.ts';
import { documentedOperations } from '../conformance/contract/documented.ts';
import { headers, statuses } from './statuses.ts';

describe.each([...documentedOperations.values()])('$id', ({ id, aliasOf, responses }) => {
  const name = (aliasOf ?? id) as OperationId;

  test('documents exactly the statuses that it can return', () => {
    const documented = responses.map(({ status }) => status);
    expect(documented.map(String).sort()).toEqual(statuses[name].map(String).sort());
  });

  test('documents the headers of each response', () => {
    const family = operations[name].errorFamily === 'messages' ? headers.messages : [];
    for (const { status, headers: found } of responses) {
      // A handshake response has only the headers of the socket.
      const always =
        status === 101 ? [] : [...headers.always, ...family, ...(headers.byStatus[status] ?? [])];
      const optional = headers.optional[name]?.[status] ?? [];
      const named = (required: boolean) =>
        found.filter((one) => one.required === required).map((one) => one.name);
      expect(named(true).sort(), `${status}`).toEqual([...always].sort());
      expect(named(false).sort(), `${status}`).toEqual([...optional].sort());
    }
  });
});

test('the table contains every operation', () => {
  expect(Object.keys(statuses).sort()).toEqual([...operationIds].sort());
});
