import { factsOf } from '../context/coverage.ts';
import type { RunContext } from '../context/run-context.ts';
import { type DocumentedOperation, documented } from '../contract/documented.ts';
import type { Scenario } from './scenario.ts';
import { validRequest } from './valid-request.ts';

/** A second request with a key that may send one request a minute. */
export function rateLimitScenarios(operation: DocumentedOperation, { caller, keys }: RunContext): Scenario[] {
  if (factsOf(operation).security === 'none') return [];
  const isSocket = operation.responses.some(({ status }) => status === 101);
  const mode = isSocket ? ('handshake' as const) : ('full' as const);
  const variation = validRequest(operation);
  return [
    {
      name: '429 a key over its rate limit',
      status: 429,
      mode,
      variation,
      as: async () => {
        const target = await keys.as('rateLimited');
        // Uses up the key's request without running the operation under test.
        const { response } = await caller.send(target, documented('listModels'));
        if (response.status !== 429) return target;
        // The minute of this key may end before the next request.
        const other = await keys.recreate('rateLimited');
        await caller.send(other, documented('listModels'));
        return other;
      },
      expected: { code: 'rate_limit_exceeded' },
      verify: ({ headers }) =>
        Number(headers.get('retry-after')) > 0 ? [] : ['retry-after is not a positive number of seconds'],
    },
  ];
}
