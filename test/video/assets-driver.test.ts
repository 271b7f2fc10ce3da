import { describe, expect, test } from 'vitest';
import { fetchAsset, uploadMedia } from '../../server/providers/official/assets.ts';
import { failureOf, useDriverRig } from '../support/driver-rig.ts';

const model = 'zeta-delta-2-0-fast-260128';
const rig = useDriverRig({ protocol: 'official', models: [{ id: model, upstream: 'own/name' }] });
const url = 'https://shop.example/cat.png';
const respondWith = (data: unknown, envelope: object = { code: 0 }) => {
  rig.answer = { body: { ...envelope, data } };
};
const invalidResponse = { kind: 'unknown', status: 502, fault: 'invalid_response' };

describe('an upload', () => {
  const upload = (more: object = {}) =>
    uploadMedia(rig.to(), { url, assetType: 'Image', name: undefined, model: null, ...more });

  test('is requested with the client’s fields, on the account of the model', async () => {
    respondWith({ Id: 'asset-1' });
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

  test.each([0, '0', 'success', undefined, null])('is accepted with the response code %j', async (code) => {
    respondWith({ Id: 'x'.repeat(256) }, { code });
    expect(await upload()).toBe('x'.repeat(256));
  });

  test.each([
    ['no data', undefined],
    ['a list', [{ Id: 'asset-1' }]],
    ['no id', { Id: '' }],
    ['a number', { Id: 7 }],
    ['an id that is too long', { Id: 'x'.repeat(257) }],
    ['an id with a NUL', { Id: 'a\0' }],
  ])('with %s in the response has an unknown outcome', async (_, data) => {
    respondWith(data);
    expect(await failureOf(upload())).toMatchObject(invalidResponse);
  });

  test.each([
    [{ code: 1001, message: `${url} is too wide for 10.0.0.7` }, '1001', `${url} is too wide for ***`],
    [{ code: 'TooWide' }, 'TooWide', 'The provider rejected the request.'],
    [{ code: 'x'.repeat(2_001) }, 'x'.repeat(2_000), 'The provider rejected the request.'],
  ])('is rejected by the response %j', async (envelope, code, message) => {
    respondWith({ Id: 'asset-1' }, envelope);
    expect(await failureOf(upload())).toMatchObject({ kind: 'rejected', status: 400, code, message });
  });
});

describe('an asset', () => {
  const fetchState = (id = 'asset-1', assetModel: string | null = null) =>
    fetchAsset(rig.to(), { upstreamId: id, model: assetModel });
  const times = { CreateTime: '2020-01-01T00:00:00Z', UpdateTime: '2020-01-01T00:00:07Z' };
  const noReason = { code: 'AssetFailed', message: 'The provider gave no reason.' };

  test('is requested by its id', async () => {
    respondWith({ Status: 'Processing' });
    await fetchState('a/1');
    await fetchState('asset-2', model);
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
    [{ Status: 'Failed' }, { status: 'Failed', ...noReason }],
    [
      { Status: 'failed', Error: { Code: '', Message: '\0' }, ...times },
      { status: 'Failed', ...noReason, ageMs: 7_000 },
    ],
    [
      { Status: 'Failed', Error: { Code: 'To\0oWide', Message: `at 10.0.0.7 ${'x'.repeat(3_000)}` } },
      { status: 'Failed', code: 'TooWide', message: `at *** ${'x'.repeat(1_993)}` },
    ],
    [
      { Status: 'Failed', CreateTime: times.UpdateTime, UpdateTime: times.CreateTime },
      { status: 'Failed', ...noReason, ageMs: undefined },
    ],
    [
      { Status: 'Failed', CreateTime: times.CreateTime, UpdateTime: times.CreateTime },
      { status: 'Failed', ...noReason, ageMs: 0 },
    ],
  ])('with the response %j', async (data, status) => {
    respondWith(data);
    expect(await fetchState()).toEqual(status);
  });

  test.each([
    [{}],
    [{ Status: '' }],
    [{ Status: 'Active' }],
    [{ Status: 'Active', URL: 'none' }],
    [{ Status: 'Active', URL: `${long}a` }],
  ])('with the invalid response %j', async (data) => {
    respondWith(data);
    expect(await failureOf(fetchState())).toMatchObject(invalidResponse);
  });
});
