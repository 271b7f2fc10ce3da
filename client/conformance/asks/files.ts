import type { OperationId } from '../../../generated/operations.ts';
import type { World } from '../subject/world.ts';
import type { Variation } from '../wire/exchange.ts';
import type { Ask } from './ask.ts';

/** A file as a whole, a part of it, and a part that it does not have. */
export function partsOf(type: string | undefined, of: () => Promise<Variation>, title = 'a file'): Ask[] {
  const ranged = (range: string) => async () => {
    const variation = await of();
    return { ...variation, headers: { ...variation.headers, range } };
  };
  return [
    { name: `200 ${title}`, status: 200, variation: of, ...(type !== undefined && { type }) },
    {
      name: `206 a part of ${title}`,
      status: 206,
      variation: ranged('bytes=0-99'),
      ...(type !== undefined && { type }),
      verify: ({ body, headers }) => [
        ...(body.length <= 100 ? [] : [`a part of 100 bytes has ${body.length}`]),
        ...(headers.get('content-range')?.startsWith('bytes 0-') === true
          ? []
          : ['content-range is missing']),
      ],
    },
    {
      name: `416 a part that ${title} does not have`,
      status: 416,
      variation: ranged('bytes=999999999999-'),
      expected: { names: 'range' },
    },
  ];
}

export const fileSuccesses: Partial<Record<OperationId, (world: World) => Ask[]>> = {
  downloadVideoContent: ({ things }) => [
    ...partsOf(undefined, async () => ({ path: { task_id: await things.finished('video') } })),
    ...partsOf(
      undefined,
      async () => ({
        path: { task_id: await things.finished('thumbnailed') },
        query: { variant: 'thumbnail' },
      }),
      'the last frame',
    ),
  ],
  getFile: ({ things }) =>
    partsOf(undefined, async () => ({ path: await things.file(), headers: { authorization: undefined } })),
  getDocsFile: () =>
    [
      ['index.html', 'text/html'],
      ['site.css', 'text/css'],
      ['scalar.js', 'text/javascript'],
      ['asyncapi.json', 'application/json'],
    ].map(([file = '', type = '']) => ({
      name: `200 ${type}`,
      status: 200,
      type,
      variation: { path: { file } },
    })),
};
