import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../generated/operations.ts';
import { isObject, type Json, objects } from '../../openapi/tools/document.ts';
import { bundle, documentedOperations } from '../conformance/contract/documented.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let target: TestGateway;
beforeAll(async () => {
  // There are no channels, so every accepted request gets a 503.
  target = await startTestGateway({ sandbox: false, channels: [] });
});
afterAll(() => target.close());

type Kind = 'web' | 'store' | 'asset' | 'image' | 'audio';

/** A field that accepts a URL: its path, the accepted kinds, and a function that builds a body with the URL in it. */
type UrlField = readonly [fieldPath: string, accepts: readonly Kind[], bodyWith: (url: string) => object];

const gamma = { model: 'gamma3.0-video', prompt: 'A boat.' };
const seedance = { model: 'epsilon-delta-2-0-260128', prompt: 'A boat.' };
const official = { model: 'epsilon-delta-2-0-260128' };
const text = { type: 'text', text: 'A boat.' };
const imageItem = { type: 'image_url', image_url: { url: 'https://files.example/a.png' } };

/** `listPath` is the field of the list: `content` or `metadata.content`. */
const contentFields = (listPath: string, bodyWith: (list: object[]) => object): UrlField[] => [
  [
    `${listPath}[].image_url.url`,
    ['web', 'asset', 'image'],
    (url) => bodyWith([{ type: 'image_url', image_url: { url } }, text]),
  ],
  [
    `${listPath}[].video_url.url`,
    ['web', 'asset'],
    (url) => bodyWith([{ type: 'video_url', video_url: { url } }, text]),
  ],
  [
    `${listPath}[].audio_url.url`,
    ['web', 'asset', 'audio'],
    (url) => bodyWith([{ type: 'audio_url', audio_url: { url } }, imageItem]),
  ],
];

/** Media types of the native protocol accept different kinds of URL. */
const nativeFields = (listPath: string, bodyWith: (list: object[]) => object): UrlField[] =>
  (
    [
      ['first_frame', ['web', 'store', 'image']],
      ['reference_image', ['web', 'store', 'image']],
      ['reference_video', ['web', 'store']],
      ['reference_audio', ['web', 'store']],
      ['file', ['web', 'store']],
      ['link', ['web']],
    ] as const
  ).map(([type, accepts]) => [`${listPath}[].url`, accepts, (url) => bodyWith([{ type, url }])]);

const generic: UrlField[] = [
  ['image', ['web', 'store', 'asset', 'image'], (url) => ({ ...gamma, image: url })],
  ['image', ['web', 'asset', 'image'], (url) => ({ ...seedance, image: url })],
  [
    'image',
    ['web', 'asset', 'image'],
    (url) => ({ model: 'eta-imagine-video', prompt: 'A boat.', image: url }),
  ],
  ['images[]', ['web', 'store', 'asset', 'image'], (url) => ({ ...gamma, images: [url] })],
  [
    'reference_images[].url',
    ['web', 'asset', 'image'],
    (url) => ({ ...seedance, reference_images: [{ url }] }),
  ],
  ['video.url', ['web', 'store', 'asset'], (url) => ({ ...gamma, video: { url } })],
  ['video.url', ['web', 'asset'], (url) => ({ ...seedance, video: { url } })],
  [
    'video.url',
    ['web', 'asset'],
    (url) => ({ model: 'eta-imagine-video', prompt: 'A boat.', video: { url } }),
  ],
  [
    'input_reference.image_url',
    ['web', 'store', 'asset', 'image'],
    (url) => ({ ...gamma, input_reference: { image_url: url } }),
  ],
  ['metadata.callback_url', ['web'], (url) => ({ ...seedance, metadata: { callback_url: url } })],
  ['metadata.video_url', ['web', 'asset'], (url) => ({ ...seedance, metadata: { video_url: url } })],
  ['metadata.video_url[]', ['web', 'asset'], (url) => ({ ...seedance, metadata: { video_url: [url] } })],
  [
    'metadata.audio_url',
    ['web', 'asset', 'audio'],
    (url) => ({ ...seedance, image: imageItem.image_url.url, metadata: { audio_url: url } }),
  ],
  [
    'metadata.audio_url[]',
    ['web', 'asset', 'audio'],
    (url) => ({ ...seedance, image: imageItem.image_url.url, metadata: { audio_url: [url] } }),
  ],
  ...nativeFields('metadata.input.media', (list) => ({ ...gamma, metadata: { input: { media: list } } })),
  ...nativeFields('metadata.input.media', (list) => ({ ...gamma, metadata: { 'input.media': list } })),
  ...contentFields('metadata.content', (content) => ({ ...seedance, metadata: { content } })),
];

const message = (content: object) => ({
  model: 'iota-chat-1',
  max_tokens: 9,
  messages: [{ role: 'user', content: [content] }],
});
const messageFields: UrlField[] = [
  [
    'messages[].content[].source.url',
    ['web'],
    (url) => message({ type: 'image', source: { type: 'url', url } }),
  ],
];

/** All fields that accept a URL, by operation. Paths look like `image`, `images[]` or `reference_images[].url`. */
const urlFields: Readonly<Partial<Record<OperationId, readonly UrlField[]>>> = {
  createVideo: generic,
  createGenericVideo: generic,
  createNativeVideo: nativeFields('input.media', (media) => ({ model: 'gamma3.0-video', input: { media } })),
  createOfficialVideo: [
    ['callback_url', ['web'], (url) => ({ ...official, content: [text], callback_url: url })],
    ...contentFields('content', (content) => ({ ...official, content })),
  ],
  createModel3d: [
    ['input.image', ['web', 'store'], (url) => ({ model: 'theta-3d', input: { image: url } })],
    ...[0, 1, 2, 3].map((view): UrlField => {
      const front = { type: 'png', file_token: 'https://files.example/a.png' };
      return [
        `input.images[${view}].file_token`,
        ['web', 'store'],
        (url) => ({
          model: 'theta-3d',
          input: { images: [front, {}, {}, {}].with(view, { type: 'png', file_token: url }) },
        }),
      ];
    }),
  ],
  uploadAsset: [['url', ['web'], (url) => ({ url, asset_type: 'Image' })]],
  customizeVoice: [
    [
      'input.url',
      ['web'],
      (url) => ({
        model: 'voice-enrollment',
        input: { action: 'create_voice', target_model: 'voxa-v3-flash', prefix: 'ann', url },
      }),
    ],
    [
      'input.url',
      ['web'],
      (url) => ({ model: 'voice-enrollment', input: { action: 'update_voice', voice_id: 'voxa-1', url } }),
    ],
    [
      'input.audio.data',
      ['web', 'audio'],
      (data) => ({
        model: 'alpha-voice-enrollment',
        input: {
          action: 'create',
          target_model: 'alpha3-tts-vc-2026-01-22',
          preferred_name: 'ann',
          audio: { data },
        },
      }),
    ],
  ],
  generateMultimodalSpeech: [
    [
      'input.audio_url',
      ['web'],
      (audio_url) => ({
        model: 'beta/speech-2.8-hd',
        input: { text: 'Hi.', voice_setting: { voice_id: 'x' }, audio_url },
      }),
    ],
  ],
  submitMusic: (['callback_url', 'notify_hook'] as const).map(
    (field): UrlField => [field, ['web'], (url) => ({ prompt: 'A song', [field]: url })],
  ),
  submitLyrics: (['callback_url', 'notify_hook'] as const).map(
    (field): UrlField => [field, ['web'], (url) => ({ prompt: 'A lullaby', [field]: url })],
  ),
  createMusic: [['notify_hook', ['web'], (url) => ({ input: { prompt: 'A song' }, notify_hook: url })]],
  submitImagine: [['notifyHook', ['web'], (url) => ({ prompt: 'A harbour', notifyHook: url })]],
  submitImageModal: [['notifyHook', ['web'], (url) => ({ taskId: '1', notifyHook: url })]],
  submitImageAction: [['notifyHook', ['web'], (url) => ({ taskId: '1', customId: '2', notifyHook: url })]],
  createMessage: messageFields,
  countMessageTokens: messageFields,
  settleTask: [['url', ['web'], (url) => ({ outcome: 'completed', reason: 'Made.', units: 1, url })]],
  createVerificationSession: [['callback_url', ['web'], (url) => ({ callback_url: url })]],
  createEndpoint: [['url', ['web'], (url) => ({ url, events: ['task.stuck'] })]],
  updateEndpoint: [['url', ['web'], (url) => ({ url })]],
  createOperatorEndpoint: [['url', ['web'], (url) => ({ url, events: ['task.stuck'] })]],
  updateOperatorEndpoint: [['url', ['web'], (url) => ({ url })]],
  testConformance: [['base_url', ['web'], (url) => ({ base_url: url, api_key: 'sk-1' })]],
};

/** Yields the path of every field of a schema that accepts a URL, in the notation of `urlFields`. */
function* urlFieldsIn(
  schema: Json | undefined,
  fieldPath: string,
  seenRefs: readonly string[] = [],
): Generator<string> {
  if (!isObject(schema)) return;
  if (schema.format === 'uri' || (typeof schema.pattern === 'string' && schema.pattern.includes('://')))
    yield fieldPath;
  if (typeof schema.$ref === 'string' && !seenRefs.includes(schema.$ref)) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    const found = objects(isObject(bundle.components) ? bundle.components.schemas : {}).find(
      ([key]) => key === name,
    );
    yield* urlFieldsIn(found?.[1], fieldPath, [...seenRefs, schema.$ref]);
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf', 'prefixItems']) {
    const members = schema[keyword];
    for (const [index, member] of (Array.isArray(members) ? members : []).entries())
      yield* urlFieldsIn(member, keyword === 'prefixItems' ? `${fieldPath}[${index}]` : fieldPath, seenRefs);
  }
  for (const keyword of ['then', 'else']) yield* urlFieldsIn(schema[keyword], fieldPath, seenRefs);
  // Beside prefixItems, items repeats their schema for generators.
  if (schema.prefixItems === undefined) yield* urlFieldsIn(schema.items, `${fieldPath}[]`, seenRefs);
  for (const [name, property] of objects(schema.properties))
    yield* urlFieldsIn(property, fieldPath === '' ? name : `${fieldPath}.${name}`, seenRefs);
}

test('the table lists every field of the contract that accepts a URL', () => {
  for (const operation of documentedOperations.values()) {
    const json = operation.requests.find(({ mediaType }) => mediaType === 'application/json');
    if (json === undefined || operation.aliasOf !== undefined) continue;
    // Messages nest: the content of a tool result or a document has the same schema.
    const found = [...urlFieldsIn(json.schema, '')].filter(
      (fieldPath) => !/content\[\](\.source)?\.content\[\]/.test(fieldPath),
    );
    const listed = urlFields[operation.id as OperationId] ?? [];
    expect([...new Set(found)].sort(), operation.id).toEqual(
      [...new Set(listed.map(([fieldPath]) => fieldPath))].sort(),
    );
  }
});

/** Sends a body and returns the status and the message. */
async function send(id: OperationId, body: object): Promise<{ status: number; message: string }> {
  const { method, path } = operations[id];
  const response = await fetch(target.url + path.replace('{id}', '1'), {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${target.key}`,
      'content-type': 'application/json',
      'compat-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  });
  const errorBody = (await response.json()) as { error?: { message: string }; message?: string };
  return { status: response.status, message: errorBody.error?.message ?? errorBody.message ?? '' };
}

const invalidUrls = [
  'file:///etc/passwd',
  'ftp://files.example/a',
  'javascript:alert(1)',
  'blob:https://files.example/1',
  '//files.example/a',
  '/etc/passwd',
  '',
  'https:files.example',
  'https://',
  'https://[',
  'https://files.example:99999/a',
  'https://files example/a',
  ' https://files.example/a',
  'https://files.example/\na',
  'https://files.example\\@evil.example/a',
];
const examples: Readonly<Record<Kind, string>> = {
  web: 'HTTPS://files.example/a?b=%20&c[]=%C3%BC#d',
  store: 'oss://bucket/a',
  asset: 'asset://asset-1-a',
  image: 'data:image/png;base64,AAAA',
  audio: 'data:audio/wav;base64,AAAA',
};

describe.each(
  Object.entries(urlFields).flatMap(([id, listed]) =>
    listed.map(([fieldPath, accepts, bodyWith], index) => ({
      id: id as OperationId,
      fieldPath,
      accepts,
      bodyWith,
      index,
    })),
  ),
)('$id $fieldPath ($index)', ({ id, fieldPath, accepts, bodyWith }) => {
  const field = fieldPath.replaceAll('[]', '.0').replace(/\[(\d)\]/g, '.$1');

  test('400 for an invalid URL and for other schemes', async () => {
    for (const url of invalidUrls) {
      const { status, message } = await send(id, bodyWith(url));
      expect([url, status], message).toEqual([url, 400]);
      expect(message).toContain(`${field}: `);
    }
  });

  test('accepts exactly the documented kinds of URL', async () => {
    for (const [kind, url] of Object.entries(examples)) {
      const { status, message } = await send(id, bodyWith(url));
      // Unknown assets and voices get other messages.
      const result = status === 400 && message.includes('must be') ? 'refused' : 'accepted';
      expect([kind, result], message).toEqual([
        kind,
        accepts.includes(kind as Kind) ? 'accepted' : 'refused',
      ]);
    }
  });
});
