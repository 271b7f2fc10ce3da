import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { approve, readApprovals } from '../../../openapi/tools/breaking/approvals.ts';
import type { Change } from '../../../openapi/tools/breaking/change.ts';
import { sourceFinder } from '../../../openapi/tools/breaking/source-files.ts';
import { bundle as openapi } from '../../conformance/contract/documented.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const change = (at: string, document: Change['document'] = 'openapi'): Change => {
  return {
    document,
    rule: 'path-removed',
    severity: 'major',
    at,
    change: `${at} was removed.`,
    operations: [],
  };
};
const entry = (at: string, reason: string) =>
  `- at: '${at}'\n  change: '${at} was removed.'\n  reason: ${reason}\n`;

describe('an approval', () => {
  test('covers the described change, and no other change at the same place', () => {
    const approvals = readApprovals(entry('#/paths/one', 'Nobody calls it.'));
    const [one, two] = [change('#/paths/one'), change('#/paths/two')];
    const other = { ...one, change: 'Something else.' };
    expect(approve([one, two, other], approvals)).toEqual({
      unapproved: [two, other],
      approved: [{ ...one, reason: 'Nobody calls it.' }],
      unused: [],
    });
  });

  test('is reported as unused if it matches no change', () => {
    const approvals = readApprovals(entry('#/paths/one', 'Nobody calls it.'));
    expect(approve([], approvals).unused).toEqual(approvals);
  });

  test.each([
    ['without a reason', '- at: a\n  change: b\n', /reason/],
    ['with an empty reason', entry('a', "' '"), /reason/],
    ['with an unknown field', `${entry('a', 'b')}  until: tomorrow\n`, /additional properties/],
    ['of invalid YAML', '- at: [', /./],
    ['outside a list', 'at: a\n', /must be array/],
  ])('%s is rejected', (_name, yaml, message) => {
    expect(() => readApprovals(yaml)).toThrow(message);
  });

  test('is optional: the file can be empty', () => {
    expect([readApprovals(''), readApprovals('[]\n')]).toEqual([[], []]);
  });
});

test.each([
  ['#/paths/~1v1~1videos/post/requestBody', 'openapi', 'openapi/paths/video/videos.yaml'],
  ['#/paths/~1v9~1gone', 'openapi', 'openapi/openapi.yaml'],
  [
    '#/components/schemas/CreateTokenRequest/required',
    'openapi',
    'openapi/schemas/tokens/CreateTokenRequest.yaml',
  ],
  ['#/components/parameters/PageSize/schema/default', 'openapi', 'openapi/parameters/PageSize.yaml'],
  ['#/components/responses/GenericNotFound', 'openapi', 'openapi/responses/GenericNotFound.yaml'],
  ['#/channels/realtime/address', 'asyncapi', 'asyncapi/asyncapi.yaml'],
  ['#/components/schemas/SessionUpdate/required', 'asyncapi', 'asyncapi/schemas/realtime/SessionUpdate.yaml'],
  ['invalid_request', 'errors', 'openapi/errors.yaml'],
] as const)('%s is found in its file', (at, document, file) => {
  expect(sourceFinder(root, [openapi])(change(at, document)).file).toBe(file);
});

test('a copied path is found in the file of the original', () => {
  const [alias] = Object.entries(
    openapi.paths as Record<string, Record<string, Record<string, unknown>>>,
  ).find(([, item]) =>
    Object.values(item).some((operation) => operation['x-alias-of'] === 'submitMusic'),
  ) ?? [''];
  expect(alias).not.toBe('');
  const at = `#/paths/${alias.replaceAll('/', '~1')}/post`;
  expect(sourceFinder(root, [openapi])(change(at)).file).toBe('openapi/paths/music/submit-music.yaml');
});
