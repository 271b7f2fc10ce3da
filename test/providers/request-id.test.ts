import { expect, test } from 'vitest';
import { providerRequestId } from '../../server/providers/headers.ts';

test.each([
  [{ 'x-request-id': 'a-1' }, 'a-1'],
  [{ 'request-id': 'b-2' }, 'b-2'],
  [{ 'x-request-id': 'a-1', 'request-id': 'b-2' }, 'a-1'],
  [{}, null],
  [undefined, null],
  [{ 'x-request-id': '' }, null],
  [{ 'x-request-id': 'a b' }, null],
  [{ 'x-request-id': 'a\u202eb' }, null],
  [{ 'x-request-id': 'x'.repeat(129) }, null],
])('the request id in the response headers %j is %j', (headers, id) => {
  expect(providerRequestId(headers)).toBe(id);
});
