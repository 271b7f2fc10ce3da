import { describe, expect, test } from 'vitest';
import { Failure } from '../../server/lib/failure.ts';
import { gammaFromGeneric, gammaFromNative } from '../../server/providers/native/video-request.ts';
import type { GenericVideoRequest } from '../../server/providers/video.ts';
import type { TaskModel } from '../../server/tasks/task-model.ts';

type Fields = Partial<GenericVideoRequest>;

const model: TaskModel = { id: 'gamma3.0-video', unit: 'seconds', protocol: 'native_video' };
const imageUrl = 'https://files.example/cat.png';
const otherImageUrl = 'https://files.example/dog.png';
const videoUrl = 'https://files.example/walk.mp4';
const dataUrl = 'data:image/png;base64,AAAA';

const translate = (fields: Fields) => gammaFromGeneric(model, { model: model.id, ...fields });
const bodyOf = (fields: Fields) => translate({ prompt: 'A boat.', ...fields }).body;
const mediaOf = (fields: Fields) => (bodyOf(fields) as { input: { media?: object[] } }).input.media;
const parametersOf = (fields: Fields) => (bodyOf(fields) as { parameters?: object }).parameters;
const item = (type: string, url: string) => ({ type, url });
const references = (count: number) => Array.from({ length: count }, () => ({ url: imageUrl }));

function errorOf(action: () => unknown): { code: string; message: string } {
  try {
    action();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    expect(error.status).toBe(400);
    // The message describes the problem, in addition to the field.
    expect(error.message).toMatch(/^[\w.]+: .{12}/);
    return { code: error.code, message: error.message };
  }
  throw new Error('the request was not refused');
}

/** The ratios that the provider chooses from. */
const fixedRatios = ['16:9', '4:3', '1:1', '3:4', '9:16'];

describe('a generic request', () => {
  test('native media under both names are refused', () => {
    const list = [{ type: 'first_frame' as const, url: imageUrl }];
    const { code, message } = errorOf(() =>
      translate({ metadata: { 'input.media': list, input: { media: list } } }),
    );
    expect([code, message]).toEqual([
      'invalid_media_combination',
      expect.stringContaining('metadata.input.media: '),
    ]);
  });

  test('contains only fields that were given', () => {
    expect(translate({ prompt: 'A boat.' })).toEqual({
      body: { input: { prompt: 'A boat.' } },
      facts: { prompt: 'A boat.' },
      expectedUnits: 5,
      maxOutputTokens: 312_012,
      priceFields: {
        audio: true,
        duration: 5,
        ratio: 'adaptive',
        reference_video: false,
        resolution: '1080P',
      },
      openFields: { ratio: fixedRatios },
    });
  });

  const media: [string, Fields, object[]][] = [
    ['image is the first frame', { image: imageUrl }, [item('first_frame', imageUrl)]],
    [
      'input_reference is the first frame',
      { input_reference: { image_url: imageUrl } },
      [item('first_frame', imageUrl)],
    ],
    ['the first of images is the first frame', { images: [imageUrl] }, [item('first_frame', imageUrl)]],
    [
      'the second of images is the last frame',
      { images: [imageUrl, otherImageUrl] },
      [item('first_frame', imageUrl), item('last_frame', otherImageUrl)],
    ],
    [
      'reference_images are references',
      { reference_images: [{ url: imageUrl }, { url: otherImageUrl }] },
      [item('reference_image', imageUrl), item('reference_image', otherImageUrl)],
    ],
    ['video is a reference', { video: { url: videoUrl } }, [item('reference_video', videoUrl)]],
    [
      'references of both kinds can be combined',
      { reference_images: [{ url: imageUrl }], video: { url: videoUrl } },
      [item('reference_image', imageUrl), item('reference_video', videoUrl)],
    ],
    [
      'ten reference images are accepted',
      { reference_images: references(10) },
      Array(10).fill(item('reference_image', imageUrl)),
    ],
    ['images may be inline', { image: dataUrl }, [item('first_frame', dataUrl)]],
    [
      'images may be in an object store',
      { image: 'oss://bucket/cat.png' },
      [item('first_frame', 'oss://bucket/cat.png')],
    ],
    [
      'empty lists are ignored',
      { images: [], reference_images: [], image: imageUrl },
      [item('first_frame', imageUrl)],
    ],
    [
      'an image may have 20 MB',
      { images: [imageUrl, `DATA:IMAGE/PNG;BASE64,${'A'.repeat(27_962_026)}`] },
      [item('first_frame', imageUrl), item('last_frame', `DATA:IMAGE/PNG;BASE64,${'A'.repeat(27_962_026)}`)],
    ],
    [
      'files may be in an object store',
      { metadata: { input: { media: [{ type: 'file', url: 'oss://bucket/a.txt' }] } } },
      [item('file', 'oss://bucket/a.txt')],
    ],
    [
      'native media replace all shortcuts, which are not validated',
      {
        image: imageUrl,
        images: [imageUrl, otherImageUrl, imageUrl],
        input_reference: { image_url: otherImageUrl },
        reference_images: references(11),
        video: { url: 'asset://asset-1-a' },
        metadata: { input: { media: [{ type: 'link', url: 'https://www.example/' }] } },
      },
      [item('link', 'https://www.example/')],
    ],
    [
      'native media under the key with a dot replace shortcuts, despite an empty list under the other name',
      {
        image: otherImageUrl,
        metadata: { 'input.media': [{ type: 'first_frame', url: imageUrl }], input: { media: [] } },
      },
      [item('first_frame', imageUrl)],
    ],
    [
      'an empty list of native media replaces nothing',
      { image: imageUrl, metadata: { 'input.media': [], input: { media: [] } } },
      [item('first_frame', imageUrl)],
    ],
    [
      'an empty list of native media does not replace the list under the other name',
      {
        image: otherImageUrl,
        metadata: { 'input.media': [], input: { media: [{ type: 'first_frame', url: imageUrl }] } },
      },
      [item('first_frame', imageUrl)],
    ],
  ];
  test.each(['jpeg', 'JPG', 'bmp', 'x-ms-bmp', 'webp', 'png;charset=x;name=a'])(
    'an image may be %s',
    (format) => {
      const url = `data:image/${format};base64,AAAA`;
      expect(mediaOf({ reference_images: [{ url }] })).toEqual([item('reference_image', url)]);
    },
  );

  test.each(media)('%s', (_, fields, expected) => {
    expect(mediaOf(fields)).toEqual(expected);
  });

  const parameters: [string, Fields, object][] = [
    ['size is the resolution', { size: '720P' }, { resolution: '720P' }],
    ['size is case-insensitive', { size: '480p' }, { resolution: '480P' }],
    ['size is a wide frame', { size: '1280x720' }, { resolution: '720P', ratio: '16:9' }],
    ['size is a tall frame', { size: '720x1280' }, { resolution: '720P', ratio: '9:16' }],
    ['size is a wide frame of public SDKs', { size: '1792x1024' }, { resolution: '1080P', ratio: '16:9' }],
    ['size is a tall frame of public SDKs', { size: '1024x1792' }, { resolution: '1080P', ratio: '9:16' }],
    ['size is a full HD frame', { size: '1920x1080' }, { resolution: '1080P', ratio: '16:9' }],
    ['size is a square frame', { size: '480*480' }, { resolution: '480P', ratio: '1:1' }],
    ['seconds are the duration', { seconds: '7' }, { duration: 7 }],
    ['seconds may be a number', { seconds: 7 }, { duration: 7 }],
    ['duration is the duration', { duration: 30 }, { duration: 30 }],
    ['seconds and duration may be equal', { seconds: '8', duration: 8 }, { duration: 8 }],
    ['seconds take precedence over duration', { seconds: '8', duration: 5 }, { duration: 8 }],
    ['-1 lets the model choose', { seconds: '-1' }, { duration: -1 }],
    [
      'native parameters are forwarded, including zero, false and unknown ones',
      {
        metadata: {
          parameters: {
            seed: 0,
            audio: false,
            watermark: false,
            prompt_extend: false,
            ratio: '9:16',
            style: 'x',
          } as object,
        },
      },
      { seed: 0, audio: false, watermark: false, prompt_extend: false, ratio: '9:16', style: 'x' },
    ],
    [
      'native resolution and duration apply if no other field sets them',
      { metadata: { parameters: { resolution: '480P', duration: 3 } } },
      { resolution: '480P', duration: 3 },
    ],
    [
      'the duration of the top level takes precedence',
      { size: '720p', seconds: '4', metadata: { parameters: { resolution: '720P', duration: 3, seed: 1 } } },
      { resolution: '720P', duration: 4, seed: 1 },
    ],
    [
      'duration takes precedence over the native duration',
      { duration: 6, metadata: { parameters: { duration: 3 } } },
      { duration: 6 },
    ],
  ];
  test.each(parameters)('%s', (_, fields, expected) => {
    expect(parametersOf(fields)).toEqual(expected);
  });

  const conflicts: [string, Fields, string?][] = [
    ['images', { image: imageUrl, images: [otherImageUrl] }, 'with image:'],
    [
      'images',
      { input_reference: { image_url: imageUrl }, images: [otherImageUrl] },
      'with input_reference:',
    ],
    ['input_reference', { image: imageUrl, input_reference: { image_url: imageUrl } }],
    ['reference_images', { image: imageUrl, reference_images: [{ url: otherImageUrl }] }, 'with image:'],
    [
      'reference_images',
      { images: [imageUrl, otherImageUrl], reference_images: [{ url: otherImageUrl }] },
      'with images:',
    ],
    ['video', { image: imageUrl, video: { url: videoUrl } }],
    [
      'video',
      { input_reference: { image_url: imageUrl }, video: { url: videoUrl } },
      'with input_reference:',
    ],
    [
      'metadata.input.media.1.type',
      {
        metadata: {
          input: {
            media: [
              { type: 'last_frame', url: imageUrl },
              { type: 'file', url: videoUrl },
            ],
          },
        },
      },
    ],
    [
      'metadata.input.media',
      {
        metadata: {
          input: {
            media: [
              { type: 'file', url: videoUrl },
              { type: 'link', url: imageUrl },
            ],
          },
        },
      },
    ],
  ];
  test.each(conflicts)('refuses a conflict in %s %#', (field, fields, expectedText = '') => {
    const { code, message } = errorOf(() => translate({ prompt: 'A boat.', ...fields }));
    expect([code, message.split(': ', 1)[0]]).toEqual(['invalid_media_combination', field]);
    expect(message).toContain(expectedText);
  });

  const invalidRequests: [string, Fields, string][] = [
    ['images', { images: [imageUrl, otherImageUrl, imageUrl] }, '2'],
    ['reference_images', { reference_images: references(11) }, '10'],
    [
      'metadata.input.media',
      { metadata: { input: { media: Array(6).fill({ type: 'reference_audio', url: videoUrl }) } } },
      '5',
    ],
    ['size', { size: '4k' }, '1080P'],
    ['size', { size: '3840x2160' }, '1080 lines'],
    ['size', { size: '1080x720' }, '16:9'],
    ['seconds', { seconds: '1' }, '2 to 30'],
    ['seconds', { seconds: '31' }, '30'],
    ['seconds', { seconds: '2.5' }, '2 to 30'],
    ['seconds', { seconds: 'five' }, '2 to 30'],
    ['duration', { duration: 0 }, '2 to 30'],
    ['metadata.parameters.duration', { metadata: { parameters: { duration: 31 } } }, '30'],
    ['duration', { video: { url: videoUrl }, duration: 30 }, '29'],
    ['image', { image: 'asset://asset-20260301120000-k3v9q' }, 'asset'],
    ['images.1', { images: [imageUrl, 'ASSET://asset-1-a'] }, 'asset'],
    ['reference_images.0.url', { reference_images: [{ url: 'asset://asset-1-a' }] }, 'asset'],
    ['video.url', { video: { url: 'asset://asset-1-a' } }, 'asset'],
    [
      'metadata.input.media.0.url',
      { metadata: { input: { media: [{ type: 'reference_audio', url: 'asset://asset-1-a' }] } } },
      'asset',
    ],
    ['video.url', { video: { url: 'data:video/mp4;base64,AAAA' } }, 'http'],
    [
      'metadata.input.media.0.url',
      { metadata: { input: { media: [{ type: 'link', url: 'ftp://files.example/' }] } } },
      'http',
    ],
    [
      'metadata.input.media.0.url',
      { metadata: { input: { media: [{ type: 'file', url: 'data:text/plain;base64,AAAA' }] } } },
      'http',
    ],
    ['image', { image: 'data:text/plain;base64,AAAA' }, 'image'],
    ['image', { image: 'data:image/png,AAAA' }, 'Base64'],
    ['image', { image: 'data:image/gif;base64,AAAA' }, 'WEBP'],
    ['image', { image: 'cat.png' }, 'URL'],
    ['image', { image: `data:image/png;base64,${'A'.repeat(27_962_027)}` }, '20 MB'],
    ['image', { image: 'data:image/;base64,AAAA' }, 'Base64'],
    ['image', { image: 'data:image/x-png;base64,AAAA' }, 'WEBP'],
    [
      'metadata.input.media.0.url',
      { metadata: { input: { media: [{ type: 'link', url: 'oss://bucket/page' }] } } },
      'http',
    ],
    [
      'metadata.input.media.0.url',
      { metadata: { input: { media: [{ type: 'reference_video', url: dataUrl }] } } },
      'object store',
    ],
    ['duration', { duration: 1 }, '2 to 30'],
    ['prompt', { prompt: '' }, 'media'],
  ];
  test.each(invalidRequests)('refuses an invalid %s %#', (field, fields, expectedText) => {
    const { code, message } = errorOf(() => translate({ prompt: 'A boat.', ...fields }));
    expect([code, message.split(': ', 1)[0]]).toEqual(['invalid_request', field]);
    expect(message).toContain(expectedText);
  });

  const reservations: [Fields, number][] = [
    [{}, 5],
    [{ seconds: '30' }, 30],
    [{ metadata: { parameters: { duration: 2 } } }, 2],
    [{ duration: -1 }, 30],
    [{ duration: -1, video: { url: videoUrl } }, 29],
    [{ duration: 29, video: { url: videoUrl } }, 29],
  ];
  test.each(reservations)('%j reserves %i seconds', (fields, expected) => {
    expect(translate({ prompt: 'A boat.', ...fields }).expectedUnits).toBe(expected);
  });

  test('stores the fields as the client wrote them', () => {
    const { facts } = translate({ prompt: 'A boat.', size: '720p', seconds: 4 });
    expect(facts).toEqual({ prompt: 'A boat.', size: '720p', seconds: '4' });
    const native = translate({
      image: imageUrl,
      metadata: { parameters: { resolution: '480P', duration: -1 } },
    });
    expect(native.facts).toEqual({ size: '480P', seconds: '-1' });
  });

  test('forwards a long prompt completely and stores the part that the provider uses', () => {
    const prompt = '🚤'.repeat(20_001);
    const { body, facts } = translate({ prompt });
    expect(body).toEqual({ input: { prompt } });
    expect(facts.prompt).toBe('🚤'.repeat(20_000));
    for (const length of [20_000, 20_001])
      expect(translate({ prompt: 'a'.repeat(length) }).facts.prompt).toBe('a'.repeat(20_000));
  });
});

describe('a native request', () => {
  test('is forwarded unchanged, without its model', () => {
    const body = {
      model: model.id,
      input: {
        prompt: 'A boat.',
        media: [{ type: 'reference_video' as const, url: videoUrl }],
        mood: 'calm',
      },
      parameters: { duration: -1, seed: 0, audio: false, style: 'x' },
      extra: true,
    };
    const { model: _, ...rest } = body;
    expect(gammaFromNative(body)).toEqual({
      body: rest,
      facts: { prompt: 'A boat.', seconds: '-1' },
      expectedUnits: 29,
      maxOutputTokens: 1_872_071,
      priceFields: {
        audio: false,
        duration: 29,
        ratio: 'adaptive',
        reference_video: true,
        resolution: '1080P',
      },
      openFields: { ratio: fixedRatios, duration: [2, 29] },
    });
  });

  test('with several reference videos has fewer seconds for the output', () => {
    const media = [1, 2].map(() => ({ type: 'reference_video' as const, url: videoUrl }));
    const translateNative = (duration?: number) =>
      gammaFromNative({ model: model.id, input: { media }, ...(duration && { parameters: { duration } }) });
    expect(translateNative(-1)).toMatchObject({ expectedUnits: 28, facts: { seconds: '-1' } });
    expect(translateNative(28).expectedUnits).toBe(28);
    expect(translateNative()).toMatchObject({ expectedUnits: 5, facts: {} });
    expect(errorOf(() => translateNative(29)).message).toBe(
      'parameters.duration: must be at most 28 here: input video and output last at most 30 seconds together.',
    );
    const { facts } = gammaFromNative({
      model: model.id,
      input: { prompt: '', media },
      parameters: { resolution: '720P' },
    });
    expect(facts).toEqual({ size: '720P' });
  });

  test.each([
    ['input.media.0.url', { media: [{ type: 'first_frame' as const, url: 'asset://asset-1-a' }] }, {}],
    [
      'input.media.0.url',
      { media: [{ type: 'reference_audio' as const, url: 'data:audio/wav;base64,AAAA' }] },
      {},
    ],
    [
      'parameters.duration',
      { media: [{ type: 'reference_video' as const, url: videoUrl }] },
      { duration: 30 },
    ],
  ])('names %s in its own format', (field, input, parameters) => {
    const { message } = errorOf(() => gammaFromNative({ model: model.id, input, parameters }));
    expect(message.split(': ', 1)[0]).toBe(field);
  });
});
