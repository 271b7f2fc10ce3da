import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { post } from './ledger.ts';

const conflict = 'invalid_media_combination';
const invalid = 'invalid_request';
const url = 'https://files.example/a.png';

const media = (...types: string[]) => types.map((type) => ({ type, url }));
const image = (role?: string) => ({ type: 'image_url', image_url: { url }, ...(role && { role }) });
const video = { type: 'video_url', video_url: { url: 'https://files.example/a.mp4' } };
const audio = { type: 'audio_url', audio_url: { url: 'https://files.example/a.mp3' } };
const view = { type: 'png', file_token: url };

let upstream: RecordingUpstream;
let target: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    response.end('{}');
  });
  const channels = (['native', 'official'] as const).map((protocol) =>
    channelTo(upstream.url, { name: protocol, protocol }),
  );
  target = await startTestGateway({ sandbox: false, channels });
});
afterAll(async () => {
  expect(upstream.seen).toEqual([]);
  await target.close();
  await upstream.close();
});

/** Sends a body and returns the status, code and message of the error. */
async function errorOf(
  path: string,
  body: object,
): Promise<{ status: number; code: string; message: string }> {
  const response = await post(target.url, target.key, path, body);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}

/** Fields that contain a list of native media, as route, body and field path. */
const nativePlaces: [string, (list: object[]) => object, string][] = [
  [
    '/api/v1/services/aigc/video-generation/video-synthesis',
    (list) => ({ model: 'gamma3.0-video', input: { media: list } }),
    'input.media',
  ],
  ...['/v1/video/generations', '/v1/videos'].map((path): (typeof nativePlaces)[number] => [
    path,
    (list) => ({ model: 'gamma3.0-video', prompt: 'A boat.', metadata: { input: { media: list } } }),
    'metadata.input.media',
  ]),
  [
    '/v1/video/generations',
    (list) => ({ model: 'gamma3.0-video', prompt: 'A boat.', metadata: { 'input.media': list } }),
    'metadata.input.media',
  ],
];

describe.each(nativePlaces)('native media at %s', (path, bodyWith, name) => {
  const rule = 'first_frame and last_frame go with no other media.';
  test.each([
    [media('first_frame', 'reference_image'), '1', 'reference_image cannot be combined with first_frame'],
    [media('reference_video', 'last_frame'), '0', 'reference_video cannot be combined with last_frame'],
    [
      media('first_frame', 'last_frame', 'reference_audio'),
      '2',
      'reference_audio cannot be combined with first_frame',
    ],
    [media('first_frame', 'file'), '1', 'file cannot be combined with first_frame'],
    [media('link', 'last_frame'), '0', 'link cannot be combined with last_frame'],
  ])('frames with other media %#', async (list, index, problem) => {
    expect(await errorOf(path, bodyWith(list))).toEqual({
      status: 400,
      code: conflict,
      message: `${name}.${index}.type: ${problem}: ${rule}`,
    });
  });

  test('a file with a link', async () => {
    expect(await errorOf(path, bodyWith(media('reference_image', 'file', 'link')))).toEqual({
      status: 400,
      code: conflict,
      message: `${name}: file and link cannot be combined; give at most 1 of the two.`,
    });
  });

  test.each([
    ['first_frame', 1],
    ['last_frame', 1],
    ['reference_image', 10],
    ['reference_video', 5],
    ['reference_audio', 5],
    ['file', 1],
    ['link', 1],
  ])('too many of type %s are not a conflict', async (type, max) => {
    const list = media(...Array<string>(max + 1).fill(type));
    expect(await errorOf(path, bodyWith(list))).toEqual({
      status: 400,
      code: invalid,
      message: `${name}: must have at most ${max} of type ${type}.`,
    });
  });

  test.each([
    [media('first_frame', 'background'), `${name}.1.type: must be one of first_frame`],
    [media('background'), `${name}.0.type: must be one of`],
    [
      [{ type: 'reference_video', url: 'data:video/mp4;base64,AAAA' }],
      `${name}.0.url: must be an http or https URL`,
    ],
    [[{ type: 'link', url: 'ftp://files.example/a' }], `${name}.0.url: must be an http or https URL`],
    [[{ type: 'first_frame', url: 'a.png' }], 'or a Base64 data URL'],
    [[...media('first_frame'), { url }], `${name}.1.type: is required`],
    [[...media('first_frame'), 'file' as unknown as object], `${name}.1: must be object`],
  ])('an invalid item is not a conflict %#', async (list, message) => {
    const actual = await errorOf(path, bodyWith(list));
    expect([actual.status, actual.code]).toEqual([400, invalid]);
    expect(actual.message).toContain(message);
  });
});

const officialPlaces: [string, (content: object[]) => object, string][] = [
  [
    '/api/v3/contents/generations/tasks',
    (content) => ({ model: 'epsilon-delta-2-5-260628', content }),
    'content',
  ],
  ...['/v1/video/generations', '/v1/videos'].map((path): (typeof officialPlaces)[number] => [
    path,
    (content) => ({ model: 'epsilon-delta-2-5-260628', prompt: 'A boat.', metadata: { content } }),
    'metadata.content',
  ]),
];

describe.each(officialPlaces)('official content at %s', (path, bodyWith, name) => {
  test.each([
    [[image('first_frame'), image('reference_image')]],
    [[video, image('last_frame'), image('first_frame')]],
  ])('frames with references %#', async (content) => {
    const actual = await errorOf(path, bodyWith(content));
    expect([actual.status, actual.code]).toEqual([400, conflict]);
    expect(actual.message).toContain(`${name}.`);
  });

  test('a last frame without a first frame', async () => {
    expect(await errorOf(path, bodyWith([image('last_frame')]))).toEqual({
      status: 400,
      code: conflict,
      message: `${name}.0: a last_frame needs a first_frame.`,
    });
  });

  test.each([
    [
      [...Array(9).fill(image()), ...Array(3).fill(video), audio],
      ': must have at most 12 images, videos and audios in all.',
    ],
    [[audio], '.0: the model takes audio only together with an image or a video.'],
  ])('media that model 2.0 does not accept %#', async (content, message) => {
    expect(await errorOf(path, { ...bodyWith(content), model: 'epsilon-delta-2-0-260128' })).toEqual({
      status: 400,
      code: invalid,
      message: `${name}${message}`,
    });
  });

  test.each([[[image('first_frame'), image('first_frame')], 'must have at most 1 of role first_frame.']])(
    'too many items are not a conflict %#',
    async (content, message) => {
      expect(await errorOf(path, bodyWith(content))).toEqual({
        status: 400,
        code: invalid,
        message: `${name}: ${message}`,
      });
    },
  );
});

test.each([
  [Array(31).fill(image('reference_image')), 'must have at most 30 of type image_url.'],
  [Array(11).fill(video), 'must have at most 10 of type video_url.'],
  [[...Array(11).fill(video), ...Array(11).fill(image())], 'must have at most 10 items of one kind.'],
])(
  'the message for too many official items names their type if all exceed by the same %#',
  async (content, message) => {
    const body = { model: 'epsilon-delta-2-5-260628', content };
    expect(await errorOf('/api/v3/contents/generations/tasks', body)).toEqual({
      status: 400,
      code: invalid,
      message: `content: ${message}`,
    });
  },
);

describe('media fields of the generic format', () => {
  const gamma = { model: 'gamma3.0-video', prompt: 'A boat.' };
  const eta = { model: 'eta-imagine-video', prompt: 'A boat.' };
  const seedance = { model: 'epsilon-delta-2-0-260128', prompt: 'A boat.' };
  const clip = { url: 'https://files.example/a.mp4' };
  const references = [{ url }];
  const frames = 'cannot be combined with a first frame, in image, images or input_reference.';
  test.each<[object, string]>([
    [{ ...gamma, image: url, reference_images: references }, `reference_images: ${frames}`],
    [{ ...gamma, images: [url], video: clip }, `video: ${frames}`],
    [{ ...gamma, input_reference: { image_url: url }, video: clip }, `video: ${frames}`],
    [
      { ...gamma, image: url, images: [url] },
      'images: cannot be combined with another first frame, in image or input_reference.',
    ],
    [
      { ...gamma, image: url, input_reference: { image_url: url } },
      'input_reference: is an alias of image; send only one of them.',
    ],
    [
      { ...eta, image: url, reference_images: references },
      'image: cannot be combined with reference_images.',
    ],
    [{ ...eta, image: url, images: [url] }, 'images: cannot be combined with another start image.'],
    [{ ...eta, video: clip, images: [url] }, 'images: cannot be combined with video.'],
    [
      { ...seedance, seconds: '5', metadata: { frames: 96 } },
      'metadata.frames: cannot be combined with seconds or duration.',
    ],
  ])('%j', async (body, message) => {
    for (const path of ['/v1/videos', '/v1/video/generations'])
      expect(await errorOf(path, body)).toEqual({ status: 400, code: conflict, message });
  });
});

describe('the input of a 3D request', () => {
  const path = '/api/v1/services/aigc/video-generation/3d-generation';
  const views = [view, {}, {}, {}];
  test.each([
    [
      { prompt: 'A horse.', image: url },
      conflict,
      'input: prompt and image exclude each other; give one of them.',
    ],
    [
      { image: url, images: views },
      conflict,
      'input: image and images exclude each other; give one of them.',
    ],
    [
      { prompt: 'A horse.', images: views },
      conflict,
      'input: prompt and images exclude each other; give one of them.',
    ],
    [{}, invalid, 'input: must have one of prompt, image, images.'],
    [{ prompt: '' }, invalid, 'input.prompt: must NOT have fewer than 1 characters.'],
    [{ image: 'horse.png' }, invalid, 'input.image: must be an http or https URL'],
  ])('%j', async (input, code, message) => {
    const actual = await errorOf(path, { model: 'theta-3d', input });
    expect([actual.status, actual.code]).toEqual([400, code]);
    expect(actual.message).toContain(message);
  });
});

describe('a violated pattern of the contract has a readable message', () => {
  test.each([
    ['gamma3.0-video', '31', 'seconds: must be -1 or 2 to 30.'],
    ['gamma3.0-video', 'five', 'seconds: must be -1 or 2 to 30.'],
    ['acme-video', '0', 'seconds: must be -1 or 1 to 9999.'],
  ])('seconds of %s: %s', async (model, seconds, message) => {
    expect(await errorOf('/v1/videos', { model, prompt: 'A boat.', seconds })).toEqual({
      status: 400,
      code: invalid,
      message,
    });
  });
});
