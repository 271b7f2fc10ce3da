import { expect, test } from 'vitest';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

interface Page {
  data: { items: { id: number }[]; total: number };
}
const pageOf = (response: HttpResponse) => {
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as Page).data;
};

describeOperation('listChanges', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
    'a user that is not a number': { query: { user_id: 'root' }, field: 'user_id' },
    'a time below 0': { query: { since: -1 }, field: 'since', limit: 0 },
    'an action of 65 characters': { query: { action: 'a'.repeat(65) }, field: 'action', limit: 64 },
  },
  gatewayTests(call) {
    test('returns no changes for filters without a match', async () => {
      const empty = { items: [], total: 0 };
      const queries: Record<string, string | number>[] = [
        { action: 'none' },
        { subject: 'token 0' },
        { user_id: Number.MAX_SAFE_INTEGER },
        { until: 0 },
        { since: 8640000000000 },
      ];
      for (const query of queries) expect(pageOf(await call({ query }))).toEqual(empty);
    });
  },
});
