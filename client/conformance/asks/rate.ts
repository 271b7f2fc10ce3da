import { type DocumentedOperation, documented } from '../contract/documented.ts';
import { factsOf } from '../subject/seen.ts';
import type { World } from '../subject/world.ts';
import type { Ask } from './ask.ts';
import { plainRequest } from './plain.ts';

/** What a key hears that may send one request a minute. */
export function overRate(operation: DocumentedOperation, { caller, keys }: World): Ask[] {
  if (factsOf(operation).security === 'none') return [];
  const isSocket = operation.responses.some(({ status }) => status === 101);
  const way = isSocket ? ('handshake' as const) : ('whole' as const);
  const variation = plainRequest(operation);
  return [
    {
      name: '429 to a key beyond its rate',
      status: 429,
      way,
      variation,
      as: async () => {
        const target = await keys.as('hasty');
        // Whatever it is that the operation does, it is not done here.
        const { answer } = await caller.send(target, documented('listModels'));
        if (answer.status !== 429) return target;
        // Its minute may be over with the next request.
        const other = await keys.anew('hasty');
        await caller.send(other, documented('listModels'));
        return other;
      },
      expected: { code: 'rate_limit_exceeded' },
      verify: ({ headers }) =>
        Number(headers.get('retry-after')) > 0 ? [] : ['retry-after tells no seconds to wait'],
    },
  ];
}
