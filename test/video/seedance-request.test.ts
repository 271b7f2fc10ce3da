import { describe, expect, test } from 'vitest';
import { Failure } from '../../server/lib/failure.ts';
import { seedanceFromGeneric, seedanceFromOfficial } from '../../server/providers/official/video-request.ts';
import type { GenericVideoRequest } from '../../server/providers/video.ts';
import type { TaskModel } from '../../server/tasks/task-model.ts';

const seedance20 = 'epsilon-delta-2-0-260128';
const fast = 'epsilon-delta-2-0-fast-260128';
const overseas = 'zeta-delta-2-0-fast-260128';
const seedance25 = 'epsilon-delta-2-5-260628';
const operatorModel = 'operators-own-model';

type Change = Partial<GenericVideoRequest>;
type Metadata = NonNullable<GenericVideoRequest['metadata']>;
type Content = NonNullable<Metadata['content']>;

const modelOf = (id: string): TaskModel => ({ id, unit: 'seconds', protocol: 'official' });
const generic = (change: Change, model = seedance25) =>
  seedanceFromGeneric(modelOf(model), { model, prompt: 'A cat walks', ...change });
const official = (change: object, content: Content = [text()], model = seedance25) =>
  seedanceFromOfficial(modelOf(model), { model, content, ...change });

const address = 'https://files.example/a';
const text = (prompt = 'A cat walks') => ({ type: 'text' as const, text: prompt });
const image = (
  url = address,
  role: 'reference_image' | 'first_frame' | 'last_frame' = 'reference_image',
) => ({
  type: 'image_url' as const,
  image_url: { url },
  role,
});
const video = (url = address) => ({
  type: 'video_url' as const,
  video_url: { url },
  role: 'reference_video' as const,
});
const audio = (url = address) => ({
  type: 'audio_url' as const,
  audio_url: { url },
  role: 'reference_audio' as const,
});
const draft = (id = 'task_1') => ({ type: 'draft_task' as const, draft_task: { id } });
const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

function errorOf(translate: () => unknown): { status: number; code: string; message: string } {
  try {
    translate();
  } catch (error) {
    if (error instanceof Failure) return { status: error.status, code: error.code, message: error.message };
    throw error;
  }
  throw new Error('the request was accepted');
}

describe('the official format of a generic request', () => {
  test('contains only fields that were given', () => {
    expect(generic({})).toEqual({
      body: { content: [text()] },
      fields: ['prompt'],
      facts: { prompt: 'A cat walks' },
      expectedUnits: 30,
      maxOutputTokens: 675_000,
      priceFields: {
        audio: true,
        duration: 30,
        reference_video: false,
        resolution: '720p',
        service_tier: 'default',
      },
      openFields: { ratio: ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'], duration: [4, 30] },
      lifetimeMs: 172_800_000,
    });
  });

  test.each<[string, Change, Content]>([
    ['image', { image: 'http://1' }, [text(), image('http://1')]],
    ['image as an asset', { image: 'asset://asset-1' }, [text(), image('asset://asset-1')]],
    ['input_reference', { input_reference: { image_url: 'http://1' } }, [text(), image('http://1')]],
    ['images', { images: ['http://1', 'http://2'] }, [text(), image('http://1'), image('http://2')]],
    ['reference_images', { reference_images: [{ url: 'http://1' }] }, [text(), image('http://1')]],
    [
      'all kinds of images in their order',
      { reference_images: [{ url: 'http://3' }], images: ['http://2'], image: 'http://1' },
      [text(), image('http://1'), image('http://2'), image('http://3')],
    ],
    ['video', { video: { url: 'http://1' } }, [text(), video('http://1')]],
    ['metadata.video_url', { metadata: { video_url: 'http://1' } }, [text(), video('http://1')]],
    [
      'videos of both fields',
      { video: { url: 'http://1' }, metadata: { video_url: ['http://2', 'http://3'] } },
      [text(), video('http://1'), video('http://2'), video('http://3')],
    ],
    ['metadata.audio_url', { metadata: { audio_url: 'http://1' } }, [text(), audio('http://1')]],
    [
      'several audio files',
      { metadata: { audio_url: ['http://1', 'http://2'] } },
      [text(), audio('http://1'), audio('http://2')],
    ],
    ['media without a prompt', { prompt: '', image: 'http://1' }, [image('http://1')]],
    [
      'metadata.content instead of prompt and media',
      {
        image: 'http://1',
        images: ['http://2'],
        reference_images: [{ url: 'http://3' }],
        video: { url: 'http://4' },
        metadata: { content: [text('Only this')], video_url: 'http://5', audio_url: 'http://6' },
      },
      [text('Only this')],
    ],
    ['empty metadata.content', { metadata: { content: [] } }, [text()]],
  ])('has the content of %s', (_, change, content) => {
    expect(generic(change).body).toEqual({ content });
  });

  test.each<[string, Change, object]>([
    ['size', { size: '720P' }, { resolution: '720p' }],
    ['a wide size', { size: '1280x720' }, { resolution: '720p', ratio: '16:9' }],
    ['a tall size', { size: '720x1280' }, { resolution: '720p', ratio: '9:16' }],
    ['a wide size of public SDKs', { size: '1792x1024' }, { resolution: '1080p', ratio: '16:9' }],
    ['a tall size of public SDKs', { size: '1024x1792' }, { resolution: '1080p', ratio: '9:16' }],
    ['a cinema size', { size: '1120x480' }, { resolution: '480p', ratio: '21:9' }],
    ['metadata.ratio', { metadata: { ratio: '1:1' } }, { ratio: '1:1' }],
    ['metadata.aspect_ratio', { metadata: { aspect_ratio: '4:3' } }, { ratio: '4:3' }],
    ['both with equal values', { metadata: { aspect_ratio: '1:1', ratio: '1:1' } }, { ratio: '1:1' }],
    ['resolution', { resolution: '720P' }, { resolution: '720p' }],
    ['aspect_ratio', { aspect_ratio: '9:16' }, { ratio: '9:16' }],
    ['seconds', { seconds: '6' }, { duration: 6 }],
    ['seconds as a number', { seconds: 6 }, { duration: 6 }],
    ['seconds of -1', { seconds: '-1' }, { duration: -1 }],
    ['duration', { duration: 7 }, { duration: 7 }],
    ['seconds and duration that agree', { seconds: '7', duration: 7 }, { duration: 7 }],
    ['a task type', { omni_reference_task_type: 'reference' }, { omni_reference_task_type: 'reference' }],
    [
      'a task type in metadata',
      { metadata: { omni_reference_task_type: 'auto' } },
      { omni_reference_task_type: 'auto' },
    ],
    [
      'two task types, where the top level takes precedence',
      { omni_reference_task_type: 'auto', metadata: { omni_reference_task_type: 'edit' } },
      { omni_reference_task_type: 'auto' },
    ],
    [
      'options with metadata.content',
      { size: '480p', metadata: { content: [text()] } },
      { resolution: '480p' },
    ],
  ])('has the option of %s', (_, change, options) => {
    expect(generic(change).body).toEqual({ content: [text()], ...options });
  });

  test.each<[keyof Metadata, unknown[]]>([
    ['watermark', [true, false]],
    ['return_last_frame', [true, false]],
    ['seed', [0, -1, 2 ** 32 - 1]],
    ['camera_fixed', [true, false]],
    ['draft', [true, false]],
    ['service_tier', ['default', 'flex']],
    ['execution_expires_after', [3600]],
    ['priority', [0, 9]],
    ['safety_identifier', ['user-1']],
    ['output_format', ['mov']],
    ['tools', [[{ type: 'web_search' }], []]],
    ['frames', [96]],
    ['generate_audio', [true, false]],
  ])('has metadata.%s', (name, values) => {
    for (const value of values) {
      expect(generic({ metadata: { [name]: value } }).body).toEqual({ content: [text()], [name]: value });
    }
  });

  test('does not forward the callback', () => {
    const callback = 'https://app.example/hook';
    const { body, callbackUrl } = generic({ metadata: { callback_url: callback } });
    expect([callbackUrl, body]).toEqual([callback, { content: [text()] }]);
  });

  test('omits unknown fields', () => {
    const unknownFields = { n: 4 };
    const unknown = { other: 1, duration: 9 };
    const metadata: Metadata = { input: { media: [] }, parameters: {}, ...unknown };
    expect(generic({ ...unknownFields, metadata }).body).toEqual({ content: [text()] });
  });

  test('stores the fields that renderers use', () => {
    const metadata: Metadata = { service_tier: 'flex', safety_identifier: 'user-1' };
    expect(generic({ size: '720P', seconds: '-1', metadata }).facts).toEqual({
      prompt: 'A cat walks',
      size: '720P',
      seconds: '-1',
      service_tier: 'flex',
      safety_identifier: 'user-1',
    });
    const content = [text('One'), draft('task_9'), text('Two')];
    expect(generic({ metadata: { content } }).facts).toEqual({ prompt: 'One\nTwo', draft_task_id: 'task_9' });
    expect(generic({ prompt: 'x'.repeat(100_000) }).facts.prompt).toHaveLength(20_000);
  });
});

describe('an official request', () => {
  test('is forwarded unchanged, without model and callback', () => {
    const options = {
      ratio: '1:1',
      seed: 0,
      watermark: false,
      other: [1],
      callback_url: 'https://app.example/hook',
    };
    const { callback_url, ...rest } = options;
    expect(official(options)).toMatchObject({ callbackUrl: callback_url });
    expect(official(options).body).toEqual({ content: [text()], ...rest });
  });

  test('expires after the given time', () => {
    expect(official({ execution_expires_after: 3600 }).lifetimeMs).toBe(3_600_000);
    expect(official({}).lifetimeMs).toBe(172_800_000);
  });
});

describe('the reserved seconds', () => {
  test.each<[string, string, Change, number]>([
    ['no duration on 2.0', seedance20, {}, 5],
    ['no duration on 2.0 fast', fast, {}, 5],
    ['no duration on overseas 2.0', overseas, {}, 5],
    ['no duration on 2.5', seedance25, {}, 30],
    ['no duration on another model', operatorModel, {}, 30],
    ['a duration on 2.0', seedance20, { seconds: '12' }, 12],
    ['a duration on 2.5', seedance25, { duration: 4 }, 4],
    ['a duration of -1 on 2.0', seedance20, { duration: -1 }, 15],
    ['a duration of -1 on 2.5', seedance25, { seconds: '-1' }, 30],
    ['frames', seedance25, { metadata: { frames: 97 } }, 5],
    ['frames on 2.0', seedance20, { metadata: { frames: 96 } }, 4],
  ])('are the maximum for %s', (_, model, change, units) => {
    expect(generic(change, model).expectedUnits).toBe(units);
  });
});

describe('the limits', () => {
  const inline = (kind: string, bytes: number) =>
    `data:${kind};base64,${'A'.repeat(Math.ceil(bytes / 3) * 4)}`;
  const megabyte = 1024 * 1024;

  test.each<[string, Content, string[]]>([
    ['9 images', times(9, image()), [seedance20, fast, overseas, seedance25, operatorModel]],
    ['30 images', times(30, image()), [seedance25, operatorModel]],
    ['3 videos', times(3, video()), [seedance20, fast, overseas, seedance25, operatorModel]],
    ['10 videos', times(10, video()), [seedance25, operatorModel]],
    [
      '3 audios and an image',
      [...times(3, audio()), image()],
      [seedance20, fast, overseas, seedance25, operatorModel],
    ],
    ['10 audios', times(10, audio()), [seedance25, operatorModel]],
    [
      '12 files',
      [...times(9, image()), ...times(2, video()), audio()],
      [seedance20, fast, overseas, seedance25, operatorModel],
    ],
    ['audio alone', [text(), audio()], [seedance25, operatorModel]],
    ['audio and a video', [audio(), video()], [seedance20, fast, overseas, seedance25, operatorModel]],
    [
      'a first frame',
      [image(address, 'first_frame')],
      [seedance20, fast, overseas, seedance25, operatorModel],
    ],
    [
      'first and last frame',
      [image(address, 'last_frame'), text(), image(address, 'first_frame')],
      [seedance20, fast, overseas, seedance25, operatorModel],
    ],
    [
      'inline media',
      [image('data:image/png;base64,AAAA'), audio('data:audio/mpeg;base64,AAAA')],
      [seedance20, seedance25],
    ],
    ['an inline image of 30 MB', [image(inline('image/png', 30 * megabyte - 3))], [seedance20, seedance25]],
  ])('accept %s', (_, content, models) => {
    for (const model of models) {
      expect(official({}, content, model).body, model).toEqual({ content });
      expect(generic({ metadata: { content } }, model).body, model).toEqual({ content });
    }
  });

  const conflict = 'invalid_media_combination';
  const invalid = 'invalid_request';
  test.each<[string, Content, string[], number, string, string]>([
    ['10 images', times(10, image()), [seedance20, fast, overseas], 9, invalid, 'at most 9'],
    ['31 images', times(31, image()), [seedance25, operatorModel], 30, invalid, 'at most 30'],
    ['4 videos', times(4, video()), [seedance20, fast, overseas], 3, invalid, 'at most 3'],
    ['11 videos', times(11, video()), [seedance25, operatorModel], 10, invalid, 'at most 10'],
    ['4 audios', [image(), ...times(4, audio())], [seedance20, fast, overseas], 4, invalid, 'at most 3'],
    ['11 audios', times(11, audio()), [seedance25, operatorModel], 10, invalid, 'at most 10'],
    [
      '13 files',
      [...times(9, image()), ...times(3, video()), audio()],
      [seedance20, fast, overseas],
      12,
      invalid,
      'at most 12 files',
    ],
    ['audio alone', [text(), audio()], [seedance20, fast, overseas], 1, invalid, 'together with'],
    [
      'a last frame alone',
      [image(address, 'last_frame')],
      [seedance20, seedance25, operatorModel],
      0,
      conflict,
      'first_frame',
    ],
    [
      'a frame and a reference',
      [image(address, 'first_frame'), image()],
      [seedance20, seedance25, operatorModel],
      1,
      conflict,
      'content.0',
    ],
    [
      'a frame and a video',
      [video(), image(address, 'first_frame')],
      [seedance20, seedance25],
      0,
      conflict,
      'content.1',
    ],
    [
      'a frame and an audio',
      [image(address, 'first_frame'), audio()],
      [seedance20, seedance25],
      1,
      conflict,
      'content.0',
    ],
    [
      'text as an inline image',
      [image('data:text/plain;base64,AAAA')],
      [seedance20, seedance25],
      0,
      invalid,
      'image',
    ],
    [
      'an inline image without Base64',
      [image('data:image/png,AAAA')],
      [seedance20, seedance25],
      0,
      invalid,
      'Base64',
    ],
    [
      'an image as audio',
      [image(), audio('data:image/png;base64,AAAA')],
      [seedance20, seedance25],
      1,
      invalid,
      'audio',
    ],
    [
      'an inline image over 30 MB',
      [image(inline('image/png', 30 * megabyte + 3))],
      [seedance25],
      0,
      invalid,
      '30 MB',
    ],
    [
      'an inline audio over 15 MB',
      [image(), audio(inline('audio/wav', 15 * megabyte + 3))],
      [seedance25],
      1,
      invalid,
      '15 MB',
    ],
  ])('refuse %s', (_, content, models, index, code, expectedText) => {
    for (const model of models) {
      const error = errorOf(() => official({}, content, model));
      expect(error, model).toMatchObject({
        status: 400,
        code,
        message: expect.stringContaining(expectedText),
      });
      expect(error.message.split(': ')[0], model).toBe(`content.${index}`);
      const other = errorOf(() => generic({ metadata: { content } }, model));
      expect(other, model).toMatchObject({ status: 400, code });
      expect(other.message.split(': ')[0], model).toBe(`metadata.content.${index}`);
    }
  });

  test.each<[string, Change, string, string]>([
    ['image', { image: 'data:text/plain,x' }, 'image', 'Base64'],
    ['images', { images: times(10, address) }, 'images.9', 'at most 9'],
    [
      'reference_images',
      { images: times(9, address), reference_images: [{ url: address }] },
      'reference_images.0',
      '9',
    ],
    [
      'video',
      { video: { url: address }, metadata: { video_url: times(3, address) } },
      'metadata.video_url.2',
      '3',
    ],
    [
      'audio_url',
      { image: address, metadata: { audio_url: times(4, address) } },
      'metadata.audio_url.3',
      '3',
    ],
    ['audio alone', { metadata: { audio_url: address } }, 'metadata.audio_url', 'together'],
    ['nothing', { prompt: '' }, 'prompt', 'required'],
  ])('name the field of a generic request: %s', (_, change, field, expectedText) => {
    const error = errorOf(() => generic(change, seedance20));
    expect(error).toMatchObject({
      status: 400,
      code: invalid,
      message: expect.stringContaining(expectedText),
    });
    expect(error.message.split(': ')[0]).toBe(field);
  });

  test.each<[string, Change, string]>([
    [
      'seconds and duration',
      { seconds: '5', duration: 6 },
      'duration: disagrees with seconds, which is 5; give one of them.',
    ],
    [
      'image and input_reference',
      { image: address, input_reference: { image_url: address } },
      'input_reference: is an alias of image; send only one of them.',
    ],
    [
      'frames and seconds',
      { seconds: '5', metadata: { frames: 120 } },
      'metadata.frames: cannot be combined with seconds. Send one of them.',
    ],
  ])('refuse %s as a conflict', (_, change, message) => {
    expect(errorOf(() => generic(change))).toEqual({ status: 400, code: conflict, message });
  });

  const durations: [string, number[], number[]][] = [
    [seedance20, [-1, 4, 15], [0, 1, 3, 16]],
    [fast, [-1, 4, 15], [0, 3, 16]],
    [overseas, [-1, 4, 15], [0, 3, 16]],
    [seedance25, [-1, 4, 30], [0, 3, 31]],
    [operatorModel, [-1, 1, 30], [0, 31]],
  ];
  test.each(durations)('of %s in seconds', (model, accepted, rejected) => {
    for (const duration of accepted) expect(generic({ duration }, model).body).toMatchObject({ duration });
    for (const duration of rejected) {
      const error = errorOf(() => generic({ duration }, model));
      expect(error.message).toMatch(/^duration: must be -1 or \d+ to \d+/);
      expect(errorOf(() => generic({ seconds: String(duration) }, model)).message).toMatch(/^seconds: /);
    }
  });

  const resolutions: [string, string[], string[]][] = [
    [seedance20, ['480p', '720P', '1080p', '4K'], ['8k']],
    [fast, ['480p', '720p'], ['1080p', '4k']],
    [overseas, ['480p', '720p'], ['1080p', '4k']],
    [seedance25, ['480p', '720p', '1080p'], ['4k']],
    [operatorModel, ['480p', '4k'], ['8k']],
  ];
  test.each(resolutions)('of %s in resolution', (model, accepted, rejected) => {
    for (const size of accepted)
      expect(generic({ size }, model).body).toMatchObject({ resolution: size.toLowerCase() });
    for (const size of rejected)
      expect(errorOf(() => generic({ size }, model)).message).toMatch(/^size: .*480p/);
  });

  test('of a width and height', () => {
    const size = '3840x2160';
    expect(generic({ size }, seedance20).body).toMatchObject({ resolution: '4k', ratio: '16:9' });
    expect(generic({ size }, seedance20).facts.size).toBe(size);
    expect(errorOf(() => generic({ size }, seedance25)).message).toMatch(/^size: .*480p/);
    expect(errorOf(() => generic({ size: '1920x1080' }, fast)).message).toMatch(/^size: .*480p/);
    expect(errorOf(() => generic({ size: '640x360' }, fast)).message).toMatch(/^size: .*480, 720, .*21:9/);
  });

  test.each([
    [seedance20, 360],
    [fast, 360],
    [seedance25, 720],
    [operatorModel, 720],
  ])('of %s in frames', (model, maxFrames) => {
    expect(official({ frames: maxFrames }, [text()], model).expectedUnits).toBe(maxFrames / 24);
    const error = errorOf(() => official({ frames: maxFrames + 1 }, [text()], model));
    expect(error.message).toContain(`frames: must be at most ${maxFrames}`);
  });

  test.each<[string, Metadata, string]>([
    ['the flex tier', { service_tier: 'flex' }, 'metadata.service_tier'],
    ['QuickTime', { output_format: 'mov' }, 'metadata.output_format'],
    ['a task type', { omni_reference_task_type: 'edit' }, 'metadata.omni_reference_task_type'],
  ])('refuse %s on 2.0 only', (_, metadata, field) => {
    const sources: Change = { video: { url: address }, metadata };
    for (const model of [seedance20, fast, overseas]) {
      const error = errorOf(() => generic(sources, model));
      expect([error.code, error.message.split(': ')[0]]).toEqual([invalid, field]);
    }
    expect(generic(sources, seedance25).body).toMatchObject(metadata);
  });
});

test('an image without a role is forwarded unchanged, also with a first frame', () => {
  const { role: _, ...plain } = image();
  for (const content of [[plain], [image(address, 'first_frame'), plain]])
    expect(official({}, content).body).toEqual({ content });
});

describe('a task type of 2.5', () => {
  const constraint = 'InvalidParameter.TaskTypeConstraint';
  const first = [image(address, 'first_frame')];

  test.each<[string, object, Content]>([
    ['an edit', { omni_reference_task_type: 'edit' }, [text(), video()]],
    [
      'an edit with all options',
      { omni_reference_task_type: 'edit', duration: -1, ratio: 'adaptive' },
      [text(), video()],
    ],
    ['an edit of a draft', { omni_reference_task_type: 'edit' }, [text(), draft()]],
    ['an extension', { omni_reference_task_type: 'extend', duration: 9 }, [text(), video()]],
    ['a reference with a ratio', { omni_reference_task_type: 'reference', ratio: '1:1' }, [text(), image()]],
    // The request sets no task type. The provider may still refuse this combination.
    ['a first frame with a ratio', { ratio: '1:1' }, first],
    ['a first frame with a ratio and type auto', { omni_reference_task_type: 'auto', ratio: '1:1' }, first],
    [
      'a video with type auto and a ratio',
      { omni_reference_task_type: 'auto', ratio: '1:1', duration: 5 },
      [video()],
    ],
  ])('accepts %s', (_, options, content) => {
    expect(official(options, content).body).toEqual({ content, ...options });
  });

  const hasSourceLength = 'which has the length of its source.';
  const ofFirst = 'ratio: must be adaptive for a given first frame.';
  test.each<[string, object, Content, string]>([
    [
      '5 seconds',
      { omni_reference_task_type: 'edit', duration: 5 },
      [video()],
      `duration: must be -1 for an edit, ${hasSourceLength}`,
    ],
    [
      'frames',
      { omni_reference_task_type: 'edit', frames: 96 },
      [video()],
      `frames: must not be set for an edit, ${hasSourceLength}`,
    ],
    [
      'a ratio',
      { omni_reference_task_type: 'edit', ratio: '1:1' },
      [video()],
      'ratio: must be adaptive for task type edit.',
    ],
    [
      'nothing',
      { omni_reference_task_type: 'edit' },
      [text(), image()],
      'omni_reference_task_type: edit requires a source video.',
    ],
    [
      'a ratio',
      { omni_reference_task_type: 'extend', ratio: '16:9' },
      [video()],
      'ratio: must be adaptive for task type extend.',
    ],
    [
      'nothing',
      { omni_reference_task_type: 'extend' },
      [text()],
      'omni_reference_task_type: extend requires a source video.',
    ],
    ['a first frame and a ratio', { omni_reference_task_type: 'reference', ratio: '1:1' }, first, ofFirst],
    [
      'first and last frame and a ratio',
      { omni_reference_task_type: 'reference', ratio: '1:1' },
      [...first, image(address, 'last_frame')],
      ofFirst,
    ],
  ])('refuses %s with %j', (_, options, content, message) => {
    const error = errorOf(() => official(options, content));
    expect(error).toEqual({ status: 400, code: constraint, message });
  });

  test('names the fields of a generic request', () => {
    const edit: Change = { omni_reference_task_type: 'edit', video: { url: address } };
    const fieldOf = (change: Change) => errorOf(() => generic({ ...edit, ...change })).message.split(': ')[0];
    expect(fieldOf({ seconds: '5' })).toBe('seconds');
    expect(fieldOf({ duration: 5 })).toBe('duration');
    expect(fieldOf({ metadata: { frames: 96 } })).toBe('metadata.frames');
    expect(fieldOf({ metadata: { ratio: '1:1' } })).toBe('metadata.ratio');
    expect(fieldOf({ metadata: { aspect_ratio: '1:1' } })).toBe('metadata.aspect_ratio');
    const typeOf = (change: Change) => errorOf(() => generic(change)).message.split(': ')[0];
    expect(typeOf({ omni_reference_task_type: 'edit' })).toBe('omni_reference_task_type');
    expect(typeOf({ metadata: { omni_reference_task_type: 'edit' } })).toBe(
      'metadata.omni_reference_task_type',
    );
  });
});
