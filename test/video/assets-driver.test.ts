import { describe, expect, test } from 'vitest';
import { fetchAsset, uploadMedia } from '../../server/providers/official/assets.ts';
import { failureOf, useDriverRig } from '../support/driver-rig.ts';

const model = 'zeta-delta-2-0-fast-260128';
const rig = useDriverRig({ protocol: 'official', models: [{ id: model, upstream: 'own/name' }] });
const url = 'https://shop.example/cat.png';
const says = (data: unknown, envelope: object = { code: 0 }) => {
  rig.answer = { body: { ...envelope, data } };
};
const nonsense = { kind: 'unknown', status: 502, fault: 'bad_answer' };

describe('an upload', () => {
  const upload = (more: object = {}) =>
    uploadMedia(rig.to(), { url, assetType: 'Image', name: undefined, model: null, ...more });

  test('asks for what the client gave, in the account that its model is of', async () => {
    says({ Id: 'asset-1' });
    expect(await upload()).toBe('asset-1');
    expect(await upload({ name: 'cat', groupId: 'group-1', model })).toBe('asset-1');
    expect(rig.seen.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/api/assets/upload', { url, asset_type: 'Image' }],
      [
        'POST',
        '/api/assets/upload?model=own%2Fname',
        { url, asset_type: 'Image', name: 'cat', group_id: 'group-1' },
      ],
    ]);
  });

  test.each([0, '0', 'success', undefined, null])('may be answered with the code %j', async (code) => {
    says({ Id: 'x'.repeat(256) }, { code });
    expect(await upload()).toBe('x'.repeat(256));
  });

  test.each([
    ['no data', undefined],
    ['a list', [{ Id: 'asset-1' }]],
    ['no id', { Id: '' }],
    ['a number', { Id: 7 }],
    ['an id that is too long', { Id: 'x'.repeat(257) }],
    ['an id that cannot be kept', { Id: 'a\0' }],
  ])('that is answered with %s may have been done', async (_, data) => {
    says(data);
    expect(await failureOf(upload())).toMatchObject(nonsense);
  });

  test.each([
    [{ code: 1001, message: `${url} is too wide for 10.0.0.7` }, '1001', `${url} is too wide for ***`],
    [{ code: 'TooWide' }, 'TooWide', 'The provider rejected the request.'],
    [{ code: 'x'.repeat(2_001) }, 'x'.repeat(2_000), 'The provider rejected the request.'],
  ])('is refused by %j', async (envelope, code, message) => {
    says({ Id: 'asset-1' }, envelope);
    expect(await failureOf(upload())).toMatchObject({ kind: 'rejected', status: 400, code, message });
  });
});

describe('an asset', () => {
  const asked = (id = 'asset-1', of: string | null = null) =>
    fetchAsset(rig.to(), { upstreamId: id, model: of });
  const times = { CreateTime: '2020-01-01T00:00:00Z', UpdateTime: '2020-01-01T00:00:07Z' };
  const none = { code: 'AssetFailed', message: 'The provider gave no reason.' };

  test('is asked for at its id', async () => {
    says({ Status: 'Processing' });
    await asked('a/1');
    await asked('asset-2', model);
    expect(rig.seen.map(({ method, path }) => [method, path])).toEqual([
      ['GET', '/api/assets/a%2F1'],
      ['GET', '/api/assets/asset-2?model=own%2Fname'],
    ]);
  });

  const long = `https://x.example/${'a'.repeat(8_174)}`;
  test.each<[object, object]>([
    [{ Status: 'Processing' }, { status: 'Processing' }],
    [{ Status: 'Resting', URL: url }, { status: 'Processing' }],
    [
      { Status: 'Active', URL: url },
      { status: 'Active', url, ageMs: undefined },
    ],
    [
      { Status: 'ACTIVE', URL: url, ...times },
      { status: 'Active', url, ageMs: 7_000 },
    ],
    [
      { Status: 'Active', URL: long },
      { status: 'Active', url: long },
    ],
    [{ Status: 'Failed' }, { status: 'Failed', ...none }],
    [
      { Status: 'failed', Error: { Code: '', Message: '\0' }, ...times },
      { status: 'Failed', ...none, ageMs: 7_000 },
    ],
    [
      { Status: 'Failed', Error: { Code: 'To\0oWide', Message: `at 10.0.0.7 ${'x'.repeat(3_000)}` } },
      { status: 'Failed', code: 'TooWide', message: `at *** ${'x'.repeat(1_993)}` },
    ],
    [
      { Status: 'Failed', CreateTime: times.UpdateTime, UpdateTime: times.CreateTime },
      { status: 'Failed', ...none, ageMs: undefined },
    ],
    [
      { Status: 'Failed', CreateTime: times.CreateTime, UpdateTime: times.CreateTime },
      { status: 'Failed', ...none, ageMs: 0 },
    ],
  ])('that is told as %j', async (data, status) => {
    says(data);
    expect(await asked()).toEqual(status);
  });

  test.each([
    [{}],
    [{ Status: '' }],
    [{ Status: 'Active' }],
    [{ Status: 'Active', URL: 'none' }],
    [{ Status: 'Active', URL: `${long}a` }],
  ])('is none that is told as %j', async (data) => {
    says(data);
    expect(await failureOf(asked())).toMatchObject(nonsense);
  });
});
