import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../generated/operations.ts';
import { isObject, type Json, objects } from '../../openapi/tools/document.ts';
import { bundle, documentedOperations } from '../conformance/contract/documented.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let target: TestGateway;
beforeAll(async () => {
  // Nothing can be served, so whatever is not refused before answers 503.
  target = await startTestGateway({ sandbox: false, channels: [] });
});
afterAll(() => target.close());

type Kind = 'web' | 'store' | 'asset' | 'image' | 'audio';

/** A field that takes an address: its place, what else the field takes, and a body with the address in it. */
type Place = readonly [place: string, takes: readonly Kind[], bodyWith: (url: string) => object];

const gamma = { model: 'gamma3.0-video', prompt: 'A boat.' };
const seedance = { model: 'epsilon-delta-2-0-260128', prompt: 'A boat.' };
const official = { model: 'epsilon-delta-2-0-260128' };
const text = { type: 'text', text: 'A boat.' };
const picture = { type: 'image_url', image_url: { url: 'https://files.example/a.png' } };

/** `at` is the list's field: `content` or `metadata.content`. */
const contentPlaces = (at: string, bodyWith: (list: object[]) => object): Place[] => [
  [
    `${at}[].image_url.url`,
    ['web', 'asset', 'image'],
    (url) => bodyWith([{ type: 'image_url', image_url: { url } }, text]),
  ],
  [
    `${at}[].video_url.url`,
    ['web', 'asset'],
    (url) => bodyWith([{ type: 'video_url', video_url: { url } }, text]),
  ],
  [
    `${at}[].audio_url.url`,
    ['web', 'asset', 'audio'],
    (url) => bodyWith([{ type: 'audio_url', audio_url: { url } }, picture]),
  ],
];

/** The kinds of native media take different addresses. */
const nativePlaces = (at: string, bodyWith: (list: object[]) => object): Place[] =>
  (
    [
      ['first_frame', ['web', 'store', 'image']],
      ['reference_image', ['web', 'store', 'image']],
      ['reference_video', ['web', 'store']],
      ['reference_audio', ['web', 'store']],
      ['file', ['web', 'store']],
      ['link', ['web']],
    ] as const
  ).map(([type, takes]) => [`${at}[].url`, takes, (url) => bodyWith([{ type, url }])]);

const generic: Place[] = [
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
    (url) => ({ ...seedance, image: picture.image_url.url, metadata: { audio_url: url } }),
  ],
  [
    'metadata.audio_url[]',
    ['web', 'asset', 'audio'],
    (url) => ({ ...seedance, image: picture.image_url.url, metadata: { audio_url: [url] } }),
  ],
  ...nativePlaces('metadata.input.media', (list) => ({ ...gamma, metadata: { input: { media: list } } })),
  ...nativePlaces('metadata.input.media', (list) => ({ ...gamma, metadata: { 'input.media': list } })),
  ...contentPlaces('metadata.content', (content) => ({ ...seedance, metadata: { content } })),
];

const message = (content: object) => ({
  model: 'iota-chat-1',
  max_tokens: 9,
  messages: [{ role: 'user', content: [content] }],
});
const messagePlaces: Place[] = [
  [
    'messages[].content[].source.url',
    ['web'],
    (url) => message({ type: 'image', source: { type: 'url', url } }),
  ],
];

/** The one list of fields that take an address: `image`, `images[]`, `reference_images[].url` and so on. */
const places: Readonly<Partial<Record<OperationId, readonly Place[]>>> = {
  createVideo: generic,
  createGenericVideo: generic,
  createNativeVideo: nativePlaces('input.media', (media) => ({ model: 'gamma3.0-video', input: { media } })),
  createOfficialVideo: [
    ['callback_url', ['web'], (url) => ({ ...official, content: [text], callback_url: url })],
    ...contentPlaces('content', (content) => ({ ...official, content })),
  ],
  createModel3d: [
    ['input.image', ['web', 'store'], (url) => ({ model: 'theta-3d', input: { image: url } })],
    ...[0, 1, 2, 3].map((view): Place => {
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
    (field): Place => [field, ['web'], (url) => ({ prompt: 'A song', [field]: url })],
  ),
  submitLyrics: (['callback_url', 'notify_hook'] as const).map(
    (field): Place => [field, ['web'], (url) => ({ prompt: 'A lullaby', [field]: url })],
  ),
  createMusic: [['notify_hook', ['web'], (url) => ({ input: { prompt: 'A song' }, notify_hook: url })]],
  submitImagine: [['notifyHook', ['web'], (url) => ({ prompt: 'A harbour', notifyHook: url })]],
  submitImageModal: [['notifyHook', ['web'], (url) => ({ taskId: '1', notifyHook: url })]],
  submitImageAction: [['notifyHook', ['web'], (url) => ({ taskId: '1', customId: '2', notifyHook: url })]],
  createMessage: messagePlaces,
  countMessageTokens: messagePlaces,
  settleTask: [['url', ['web'], (url) => ({ outcome: 'completed', reason: 'Made.', units: 1, url })]],
  createVerificationSession: [['callback_url', ['web'], (url) => ({ callback_url: url })]],
};

/** Every place of a schema that takes an address, in the notation of the list. */
function* addressesIn(
  schema: Json | undefined,
  place: string,
  above: readonly string[] = [],
): Generator<string> {
  if (!isObject(schema)) return;
  if (schema.format === 'uri' || (typeof schema.pattern === 'string' && schema.pattern.includes('://')))
    yield place;
  if (typeof schema.$ref === 'string' && !above.includes(schema.$ref)) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    const found = objects(isObject(bundle.components) ? bundle.components.schemas : {}).find(
      ([key]) => key === name,
    );
    yield* addressesIn(found?.[1], place, [...above, schema.$ref]);
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf', 'prefixItems']) {
    const members = schema[keyword];
    for (const [index, member] of (Array.isArray(members) ? members : []).entries())
      yield* addressesIn(member, keyword === 'prefixItems' ? `${place}[${index}]` : place, above);
  }
  for (const keyword of ['then', 'else']) yield* addressesIn(schema[keyword], place, above);
  yield* addressesIn(schema.items, `${place}[]`, above);
  for (const [name, property] of objects(schema.properties))
    yield* addressesIn(property, place === '' ? name : `${place}.${name}`, above);
}

test('the list names every field of the contract that takes an address', () => {
  for (const operation of documentedOperations.values()) {
    const json = operation.requests.find(({ mediaType }) => mediaType === 'application/json');
    if (json === undefined || operation.aliasOf !== undefined) continue;
    // Messages nest: what stands in a tool's result or a document is of the same schema.
    const found = [...addressesIn(json.schema, '')].filter(
      (place) => !/content\[\](\.source)?\.content\[\]/.test(place),
    );
    const listed = places[operation.id as OperationId] ?? [];
    expect([...new Set(found)].sort(), operation.id).toEqual(
      [...new Set(listed.map(([place]) => place))].sort(),
    );
  }
});

/** Sends a body and gives the status and the message. */
async function send(id: OperationId, body: object): Promise<{ status: number; message: string }> {
  const response = await fetch(target.url + operations[id].path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${target.key}`,
      'content-type': 'application/json',
      'compat-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  });
  const told = (await response.json()) as { error?: { message: string }; message?: string };
  return { status: response.status, message: told.error?.message ?? told.message ?? '' };
}

const noAddresses = [
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
  Object.entries(places).flatMap(([id, listed]) =>
    listed.map(([place, takes, bodyWith], index) => ({
      id: id as OperationId,
      place,
      takes,
      bodyWith,
      index,
    })),
  ),
)('$id $place ($index)', ({ id, place, takes, bodyWith }) => {
  const field = place.replaceAll('[]', '.0').replace(/\[(\d)\]/g, '.$1');

  test('400 for what is no address, and for other schemes', async () => {
    for (const url of noAddresses) {
      const { status, message } = await send(id, bodyWith(url));
      expect([url, status], message).toEqual([url, 400]);
      expect(message).toContain(`${field}: `);
    }
  });

  test('takes the kinds of addresses that the field takes, and no other', async () => {
    for (const [kind, url] of Object.entries(examples)) {
      const { status, message } = await send(id, bodyWith(url));
      // Assets and voices that nobody made are refused in other words.
      const told = status === 400 && message.includes('must be') ? 'refused' : 'taken';
      expect([kind, told], message).toEqual([kind, takes.includes(kind as Kind) ? 'taken' : 'refused']);
    }
  });
});
