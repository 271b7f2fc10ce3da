import type { OperationId } from '../../../generated/operations.ts';
import type { RunContext } from '../context/run-context.ts';
import type { Variation } from '../wire/exchange.ts';
import type { Scenario } from './scenario.ts';

/** A whole file, a range of it, and a range beyond its end. */
export function rangeScenarios(
  mediaType: string | undefined,
  of: () => Promise<Variation>,
  title = 'a file',
): Scenario[] {
  const ranged = (range: string) => async () => {
    const variation = await of();
    return { ...variation, headers: { ...variation.headers, range } };
  };
  return [
    { name: `200 ${title}`, status: 200, variation: of, ...(mediaType !== undefined && { mediaType }) },
    {
      name: `206 a range of ${title}`,
      status: 206,
      variation: ranged('bytes=0-99'),
      ...(mediaType !== undefined && { mediaType }),
      verify: ({ body, headers }) => [
        ...(body.length <= 100 ? [] : [`a range of 100 bytes has ${body.length} bytes`]),
        ...(headers.get('content-range')?.startsWith('bytes 0-') === true
          ? []
          : ['content-range is missing']),
      ],
    },
    {
      name: `416 a range beyond the end of ${title}`,
      status: 416,
      variation: ranged('bytes=999999999999-'),
      expected: { field: 'range' },
    },
  ];
}

/** A page, and the same page for a client that has it. */
const unchanged =
  ({ path }: Pick<Variation, 'path'>) =>
  (_context: RunContext): Scenario[] => {
    let etag = '';
    const variation = { ...(path !== undefined && { path }), headers: { accept: 'text/html' } };
    return [
      {
        name: '200 a page',
        status: 200,
        mediaType: 'text/html',
        variation,
        verify: ({ headers }) => {
          etag = headers.get('etag') ?? '';
          return etag === '' ? ['etag is missing'] : [];
        },
      },
      {
        name: '304 a page that the client has',
        status: 304,
        variation: async () => ({ ...variation, headers: { ...variation.headers, 'if-none-match': etag } }),
      },
    ];
  };

export const fileScenarios: Partial<Record<OperationId, (context: RunContext) => Scenario[]>> = {
  downloadVideoContent: ({ fixtures }) => [
    ...rangeScenarios(undefined, async () => ({ path: { task_id: await fixtures.finishedTask('video') } })),
    ...rangeScenarios(
      undefined,
      async () => ({
        path: { task_id: await fixtures.finishedTask('thumbnailed') },
        query: { variant: 'thumbnail' },
      }),
      'the last frame',
    ),
  ],
  getFile: ({ fixtures }) =>
    rangeScenarios(undefined, async () => ({
      path: await fixtures.file(),
      headers: { authorization: undefined },
    })),
  getHomePage: unchanged({}),
  getDocs: unchanged({}),
  getConsole: unchanged({}),
  getDocsFile: (context) => [
    ...unchanged({ path: { file: 'index.html' } })(context),
    ...siteScenarios([
      ['index.html', 'text/html', 200],
      ['reference.css', 'text/css', 200],
      ['scalar.js', 'text/javascript', 200],
      ['quick-start.md', 'text/markdown', 200],
      ['llms.txt', 'text/plain', 200],
      ['favicon.svg', 'image/svg+xml', 200],
      ['social-card.png', 'image/png', 200],
      ['asyncapi.json', 'application/json', 200],
      ['nothing', 'text/html', 404],
    ]),
  ],
  getConsoleFile: (context) => [
    ...unchanged({ path: { file: 'index.html' } })(context),
    ...siteScenarios([
      ['index.html', 'text/html', 200],
      ['theme.js', 'text/javascript', 200],
      ['icon.svg', 'image/svg+xml', 200],
      ['nothing', 'text/html', 404],
    ]),
  ],
};

/** Requests for files of a site. */
const siteScenarios = (
  files: readonly (readonly [file: string, mediaType: string, status: number])[],
): Scenario[] =>
  files.map(([file, mediaType, status]) => ({
    name: `${status} ${mediaType}`,
    status,
    mediaType,
    variation: { path: { file }, headers: { accept: mediaType } },
  }));
