import { expect, test } from 'vitest';
import { models } from '../../generated/catalogue.ts';
import { Channels } from '../../server/channels/channels.ts';
import type { Caller } from '../../server/keys/caller.ts';
import { ModelAccess } from '../../server/models/access.ts';
import { findTaskModel, type TaskProtocol } from '../../server/tasks/task-model.ts';
import { channelTo } from '../support/upstream.ts';

const video = 'gamma3.0-video';
const caller: Caller = {
  tokenId: 1,
  userId: 1,
  tokenName: 'key',
  isAdmin: false,
  group: 'default',
  modelLimits: null,
};
const access = new ModelAccess({
  groups: { default: { ratio: 1, models: ['gamma*', 'own-*', 'voxa*'] } },
  prices: { '*': 1 },
});
const listed = (protocol: 'native' | 'official' | 'sigma', id: string) =>
  channelTo('http://127.0.0.1:9', { name: protocol, protocol, models: [{ id, upstream: undefined }] });
const channels = new Channels([listed('native', 'own-*'), listed('sigma', 'own-songs')], () => 0);
const find = (id: string, ...protocols: TaskProtocol[]) =>
  findTaskModel({ access, channels }, caller, id, protocols);

test('a model of the catalog is found with its unit and the first matching protocol of the route', () => {
  const unit = models.find(({ id }) => id === video)?.unit;
  expect(find(video, 'native_3d', 'official', 'native_video')).toEqual({
    id: video,
    unit,
    protocol: 'native_video',
  });
});

test('a model outside the catalog is found if a channel lists it, with the unit of the protocol', () => {
  expect(find('own-video', 'official', 'native_video')).toEqual({
    id: 'own-video',
    unit: 'seconds',
    protocol: 'native_video',
  });
  expect(find('own-shape', 'native_3d')).toMatchObject({ unit: 'actions', protocol: 'native_3d' });
  expect(find('own-songs', 'sigma')).toMatchObject({ unit: 'tracks', protocol: 'sigma' });
});

test.each([
  ['does not exist', 'other', ['native_video'], 404, 'model_not_found', 'model: "other" does not exist.'],
  ['no channel of the route lists', 'own-video', ['official'], 404, 'model_not_found', 'model: "own-video"'],
  [
    'another route serves',
    video,
    ['sigma'],
    400,
    'invalid_request',
    `model: ${video} is not served on this route`,
  ],
] as const)('a model that %s is refused', (_, id, protocols, status, code, text) => {
  expect(() => find(id, ...protocols)).toThrow(
    expect.objectContaining({ status, code, message: expect.stringContaining(text) }),
  );
});

test('a model that the key may not use is refused, in the catalog and outside it', () => {
  const limited = { ...caller, modelLimits: ['gamma3.0-other'] };
  for (const id of [video, 'own-video'])
    expect(() => findTaskModel({ access, channels }, limited, id, ['native_video'])).toThrow(
      expect.objectContaining({ status: 403, code: 'access_denied' }),
    );
});
