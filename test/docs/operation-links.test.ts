import { expect, test } from 'vitest';
import { withOperationLinks } from '../../openapi/tools/docs/operation-links.ts';

const openapi = { paths: { '/v1/videos': { post: { operationId: 'createVideo' } } } };
const linked = '[`POST /v1/videos`](/docs/reference#operation/createVideo)';

test.each([
  ['a call', 'Send `POST /v1/videos`.', `Send ${linked}.`],
  ['a call with a query', '`POST /v1/videos?a=1`', linked.replace('videos`', 'videos?a=1`')],
  ['another method', '`GET /v1/videos`', '`GET /v1/videos`'],
  ['a link', '[`POST /v1/videos`](other)', '[`POST /v1/videos`](other)'],
  ['a heading', '## `POST /v1/videos`', '## `POST /v1/videos`'],
  [
    'a code block',
    '```sh\n# `POST /v1/videos`\n```\n`POST /v1/videos`',
    `\`\`\`sh\n# \`POST /v1/videos\`\n\`\`\`\n${linked}`,
  ],
])('%s', (_, markdown, expected) => {
  expect(withOperationLinks(markdown, openapi)).toBe(expected);
});
