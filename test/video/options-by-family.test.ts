import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { familiesByField, type VideoFamily } from '../../server/models/video-options.ts';
import { etaRequest } from '../spec/interface/fields.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { GenericClient } from './generic-client.ts';

/** Models of the catalog, and ids that only a channel lists. */
const models: Readonly<Record<VideoFamily, readonly string[]>> = {
  gamma: ['gamma3.0-video', 'own-native-video'],
  seedance: ['epsilon-delta-2-5-260628', 'own-official-video'],
  eta: ['eta-imagine-video', 'own-eta-video'],
};
const familyNames: Readonly<Record<VideoFamily, string>> = {
  gamma: 'gamma',
  seedance: 'Seedance',
  eta: 'eta',
};
const families: readonly VideoFamily[] = ['gamma', 'seedance', 'eta'];

const imageUrl = 'https://files.example/frame.png';
const videoUrl = 'https://files.example/clip.mp4';
const audioUrl = 'https://files.example/song.mp3';
const media = [{ type: 'reference_image', url: imageUrl }];
const content = [{ type: 'text', text: 'Only this.' }];
const inContent = (item: object) => ({ content: expect.arrayContaining([expect.objectContaining(item)]) });

/** Field of a generic request, its value, and the body that each family's upstream receives. Families without a body refuse the field. */
const options: readonly [field: string, value: unknown, sent: Partial<Record<VideoFamily, object>>][] = [
  [
    'resolution',
    '480p',
    {
      gamma: { parameters: { resolution: '480P' } },
      seedance: { resolution: '480p' },
      eta: { resolution: '480p' },
    },
  ],
  [
    'aspect_ratio',
    '9:16',
    { gamma: { parameters: { ratio: '9:16' } }, seedance: { ratio: '9:16' }, eta: { aspect_ratio: '9:16' } },
  ],
  ['custom_domain', 'files.example', { eta: {} }],
  ['omni_reference_task_type', 'auto', { seedance: { omni_reference_task_type: 'auto' } }],
  ['metadata.input.media', media, { gamma: { input: { prompt: 'A boat.', media } } }],
  ['metadata.parameters', { prompt_extend: false }, { gamma: { parameters: { prompt_extend: false } } }],
  ['metadata.content', content, { seedance: { content } }],
  [
    'metadata.ratio',
    '9:16',
    { gamma: { parameters: { ratio: '9:16' } }, seedance: { ratio: '9:16' }, eta: { aspect_ratio: '9:16' } },
  ],
  [
    'metadata.aspect_ratio',
    '9:16',
    { gamma: { parameters: { ratio: '9:16' } }, seedance: { ratio: '9:16' }, eta: { aspect_ratio: '9:16' } },
  ],
  [
    'metadata.video_url',
    videoUrl,
    { seedance: inContent({ type: 'video_url', video_url: { url: videoUrl } }) },
  ],
  [
    'metadata.audio_url',
    audioUrl,
    { seedance: inContent({ type: 'audio_url', audio_url: { url: audioUrl } }) },
  ],
  ['metadata.omni_reference_task_type', 'auto', { seedance: { omni_reference_task_type: 'auto' } }],
  [
    'metadata.watermark',
    false,
    { gamma: { parameters: { watermark: false } }, seedance: { watermark: false } },
  ],
  ['metadata.return_last_frame', true, { seedance: { return_last_frame: true } }],
  ['metadata.seed', 0, { gamma: { parameters: { seed: 0 } }, seedance: { seed: 0 } }],
  ['metadata.camera_fixed', false, { seedance: { camera_fixed: false } }],
  ['metadata.draft', true, { seedance: { draft: true } }],
  ['metadata.service_tier', 'flex', { seedance: { service_tier: 'flex' } }],
  ['metadata.execution_expires_after', 3600, { seedance: { execution_expires_after: 3600 } }],
  ['metadata.priority', 0, { seedance: { priority: 0 } }],
  ['metadata.safety_identifier', 'user-1', { seedance: { safety_identifier: 'user-1' } }],
  // The gateway delivers the callback itself.
  ['metadata.callback_url', 'http://127.0.0.1:9/hook', { seedance: {} }],
  ['metadata.output_format', 'mov', { seedance: { output_format: 'mov' } }],
  ['metadata.tools', [{ type: 'web_search' }], { seedance: { tools: [{ type: 'web_search' }] } }],
  ['metadata.frames', 96, { seedance: { frames: 96 } }],
  [
    'metadata.generate_audio',
    false,
    { gamma: { parameters: { audio: false } }, seedance: { generate_audio: false } },
  ],
];

let upstream: RecordingUpstream;
let target: TestGateway;
let client: GenericClient;
beforeAll(async () => {
  upstream = await startUpstream(({ method, path }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (path.startsWith('/api/v3/')) response.end(JSON.stringify({ id: 't', status: 'queued' }));
    else if (path.startsWith('/api/'))
      response.end(JSON.stringify({ request_id: 'r', output: { task_id: 't', task_status: 'PENDING' } }));
    else response.end(method === 'GET' ? '{"status":"pending"}' : '{"request_id":"t"}');
  });
  const modelsWithIds = (...ids: string[]) => ids.map((id) => ({ id, upstream: undefined }));
  target = await startTestGateway({
    sandbox: false,
    callbacks: { allowPrivate: true, secret: undefined },
    channels: [
      channelTo(upstream.url, { name: 'native', models: modelsWithIds(...models.gamma) }),
      channelTo(upstream.url, {
        name: 'official',
        protocol: 'official',
        models: modelsWithIds(...models.seedance),
      }),
      channelTo(upstream.url, { name: 'eta', protocol: 'eta', models: modelsWithIds(...models.eta) }),
    ],
  });
  client = new GenericClient(target);
});
beforeEach(() => {
  upstream.seen.length = 0;
});
afterAll(async () => {
  await target.close();
  await upstream.close();
});

const prompt = 'A boat.';

function withField(field: string, value: unknown): object {
  if (!field.startsWith('metadata.')) return { prompt, [field]: value };
  return { prompt, metadata: { [field.slice('metadata.'.length)]: value } };
}

/** Builds the same request as a form, like the OpenAI SDK. */
function asForm(model: string, field: string, value: unknown): FormData {
  const form = new FormData();
  form.append('model', model);
  form.append('prompt', prompt);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  form.append(field.replace(/^metadata\.(.*)$/, 'metadata[$1]'), text);
  return form;
}

async function expectOutcome(body: object, sent: object | undefined, field: string, hasField: string) {
  const { status, body: responseBody } = await client.call('POST', '/v1/videos', body);
  if (sent !== undefined) {
    expect(status, JSON.stringify(responseBody)).toBe(200);
    expect(upstream.changes().map((one) => one.body)).toEqual([expect.objectContaining(sent)]);
    return;
  }
  expect([status, responseBody.error?.code, responseBody.error?.message]).toEqual([
    400,
    'invalid_request',
    expect.stringMatching(new RegExp(`^${field.replaceAll('.', '\\.')}: .*${hasField}`)),
  ]);
  expect(upstream.changes()).toEqual([]);
}

describe.each(families)('%s', (family) => {
  describe.each(models[family])('%s', (model) => {
    test.each(options)('%s', async (field, value, sent) => {
      const supporting = families.filter((one) => sent[one] !== undefined).map((one) => familyNames[one]);
      const expected = sent[family];
      await expectOutcome({ model, ...withField(field, value) }, expected, field, supporting[0] ?? '');
      upstream.seen.length = 0;
      await expectOutcome(asForm(model, field, value), expected, field, supporting[0] ?? '');
    });
  });
});

test('the table holds every option of the interface', () => {
  const shared = [
    'model',
    'prompt',
    'image',
    'images',
    'reference_images',
    'video',
    'size',
    'seconds',
    'duration',
  ];
  const named = Object.keys(etaRequest)
    .map((field) => field.replace(/[!.[].*$/, (rest) => (rest.startsWith('.') ? rest : '')))
    .map((field) => (field.startsWith('video.') ? 'video' : field))
    .filter((field) => !shared.includes(field));
  const tested = options.map(([field]) => field).filter((field) => field !== 'metadata.aspect_ratio');
  expect(tested.toSorted()).toEqual(named.toSorted());
  for (const [field, , sent] of options) {
    const supporting = families.filter((one) => sent[one] !== undefined);
    expect([field, familiesByField[field] ?? families]).toEqual([field, supporting]);
  }
});

test.each([
  ['gamma3.0-video', { metadata: { content: [], tools: [] } }],
  ['epsilon-delta-2-5-260628', { metadata: { 'input.media': [], input: { media: [] }, parameters: {} } }],
  ['eta-imagine-video', { metadata: { content: [], 'input.media': [], input: {}, parameters: {} } }],
  ['eta-imagine-video', { metadata: { unknown_option: 1 } }],
])('%s accepts %j, which has no effect', async (model, change) => {
  const { status, body } = await client.call('POST', '/v1/videos', { model, prompt, ...change });
  expect([status, body]).toEqual([200, expect.anything()]);
});

test('native media inside `metadata.input` are refused by the other families', async () => {
  for (const model of [...models.seedance, ...models.eta]) {
    const body = { model, prompt, metadata: { input: { media } } };
    await expectOutcome(body, undefined, 'metadata.input.media', 'gamma');
  }
});

describe('fields with the same meaning and different values', () => {
  test.each<[VideoFamily, object, string, string]>([
    ['gamma', { size: '480P', resolution: '720p' }, 'resolution', 'size'],
    [
      'gamma',
      { size: '480P', metadata: { parameters: { resolution: '720P' } } },
      'metadata.parameters.resolution',
      'size',
    ],
    ['gamma', { aspect_ratio: '9:16', metadata: { ratio: '16:9' } }, 'metadata.ratio', 'aspect_ratio'],
    [
      'gamma',
      { metadata: { ratio: '16:9', parameters: { ratio: '1:1' } } },
      'metadata.parameters.ratio',
      'metadata.ratio',
    ],
    [
      'gamma',
      { metadata: { ratio: '16:9', aspect_ratio: '1:1' } },
      'metadata.aspect_ratio',
      'metadata.ratio',
    ],
    [
      'gamma',
      { metadata: { seed: 1, parameters: { seed: 0 } } },
      'metadata.parameters.seed',
      'metadata.seed',
    ],
    [
      'gamma',
      { metadata: { watermark: true, parameters: { watermark: false } } },
      'metadata.parameters.watermark',
      'metadata.watermark',
    ],
    [
      'gamma',
      { metadata: { generate_audio: false, parameters: { audio: true } } },
      'metadata.parameters.audio',
      'metadata.generate_audio',
    ],
    ['seedance', { size: '480p', resolution: '720p' }, 'resolution', 'size'],
    ['seedance', { aspect_ratio: '9:16', metadata: { ratio: '16:9' } }, 'metadata.ratio', 'aspect_ratio'],
    [
      'seedance',
      { metadata: { ratio: '16:9', aspect_ratio: '1:1' } },
      'metadata.aspect_ratio',
      'metadata.ratio',
    ],
    ['seedance', { seconds: '5', duration: 4 }, 'duration', 'seconds'],
    ['seedance', { seconds: '5', duration: 6 }, 'duration', 'seconds'],
    ['eta', { seconds: '5', duration: 4 }, 'duration', 'seconds'],
    ['eta', { seconds: '5', duration: 6 }, 'duration', 'seconds'],
    ['gamma', { size: '1280x720', metadata: { ratio: '1:1' } }, 'metadata.ratio', 'size'],
    ['seedance', { size: '1280x720', metadata: { ratio: '1:1' } }, 'metadata.ratio', 'size'],
    ['seedance', { size: '1280x720', resolution: '480p' }, 'resolution', 'size'],
    ['eta', { size: '1280x720', metadata: { ratio: '1:1' } }, 'metadata.ratio', 'size'],
    ['eta', { aspect_ratio: '9:16', metadata: { ratio: '16:9' } }, 'metadata.ratio', 'aspect_ratio'],
  ])('%s %j', async (family, change, field, other) => {
    for (const model of models[family]) {
      const { status, body } = await client.call('POST', '/v1/videos', { model, prompt, ...change });
      expect(status).toBe(400);
      expect(body.error.message).toMatch(new RegExp(`^${field}: .*disagrees with ${other}`));
    }
    expect(upstream.changes()).toEqual([]);
  });

  test.each<[object, object]>([
    [{ seconds: '8', duration: 5 }, { duration: 8 }],
    [{ seconds: '5', duration: 8 }, { duration: 5 }],
    [{ seconds: '-1', duration: 5 }, { duration: -1 }],
    [{ seconds: '4', metadata: { parameters: { duration: 6 } } }, { duration: 4 }],
    [{ duration: 4, metadata: { parameters: { duration: 6 } } }, { duration: 4 }],
  ])('gamma prefers seconds, then duration: %j', async (change, parameters) => {
    for (const model of models.gamma) {
      upstream.seen.length = 0;
      const body = { model, prompt, ...change };
      await expectOutcome(body, { parameters }, '', '');
    }
  });

  test.each<[VideoFamily, object, object]>([
    [
      'gamma',
      { size: '480p', resolution: '480P', metadata: { parameters: { resolution: '480P' } } },
      { parameters: { resolution: '480P' } },
    ],
    [
      'gamma',
      { aspect_ratio: '1:1', metadata: { ratio: '1:1', parameters: { ratio: '1:1' } } },
      { parameters: { ratio: '1:1' } },
    ],
    ['seedance', { size: '480P', resolution: '480p' }, { resolution: '480p' }],
    ['eta', { size: '1280x720', metadata: { ratio: '16:9' } }, { resolution: '720p', aspect_ratio: '16:9' }],
  ])('%s accepts values that agree: %j', async (family, change, sent) => {
    const [model = ''] = models[family];
    await expectOutcome({ model, prompt, ...change }, sent, '', '');
  });
});

describe('values that a family does not support', () => {
  test.each<[VideoFamily, object, string]>([
    ['gamma', { metadata: { ratio: '21:9' } }, 'metadata.ratio'],
    ['gamma', { aspect_ratio: '21:9' }, 'aspect_ratio'],
    ['gamma', { resolution: '4k' }, 'resolution'],
    ['gamma', { size: '640x360' }, 'size'],
    ['gamma', { size: '1x1' }, 'size'],
    ['seedance', { size: '1080x720' }, 'size'],
    ['gamma', { metadata: { seed: -1 } }, 'metadata.seed'],
    ['gamma', { metadata: { seed: 2 ** 31 } }, 'metadata.seed'],
    ['seedance', { resolution: '8k' }, 'resolution'],
    ['seedance', { aspect_ratio: '5:4' }, 'aspect_ratio'],
    ['eta', { metadata: { ratio: 'adaptive' } }, 'metadata.ratio'],
  ])('%s refuses %j', async (family, change, field) => {
    for (const model of models[family]) {
      const { status, body } = await client.call('POST', '/v1/videos', { model, prompt, ...change });
      expect([status, body.error.message]).toEqual([
        400,
        expect.stringMatching(new RegExp(`^${field}: must (be|have)`)),
      ]);
    }
    expect(upstream.changes()).toEqual([]);
  });
});
