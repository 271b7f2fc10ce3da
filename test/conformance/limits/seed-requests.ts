import type { Json } from '../../../openapi/tools/document.ts';

const prompt = 'A paper boat.';
const url = 'https://files.example/a';
const items = (count: number, type: string) => Array.from({ length: count }, () => ({ type, url }));
/** The maximum number of media in one request. */
const allMedia = [
  ...items(10, 'reference_image'),
  ...items(5, 'reference_video'),
  ...items(5, 'reference_audio'),
  ...items(1, 'file'),
];
const gamma = 'gamma3.0-video';

const official = (model: string, content: Json = [{ type: 'text', text: prompt }]) => ({ model, content });
const file = (count: number, type: string) =>
  Array.from({ length: count }, () => ({ type, [type]: { url } }));
/** The maximum number of references for Seedance 2.0. */
const allFiles = [...file(6, 'image_url'), ...file(3, 'video_url'), ...file(3, 'audio_url')];
const seedance20 = (metadata: { readonly [key: string]: Json }) => ({
  model: 'epsilon-delta-2-0-260128',
  prompt,
  metadata,
});

const frames = ['first_frame', 'last_frame'].map((role) => ({ type: 'image_url', image_url: { url }, role }));

const media = (list: Json) => ({ model: gamma, prompt, metadata: { 'input.media': list } });

/** Generic requests for each model family and for a model without a family. */
const videos: readonly Json[] = [
  { model: 'epsilon-delta-2-5-260628', prompt },
  seedance20({ content: allFiles }),
  seedance20({ content: frames }),
  { model: 'another-video', metadata: { 'input.media': items(1, 'first_frame') } },
  { model: 'another-video', metadata: { input: { media: items(1, 'first_frame') } } },
  { model: 'another-video', metadata: { content: file(1, 'image_url') } },
  { model: 'epsilon-delta-2-0-260128', prompt },
  { model: 'epsilon-delta-2-0-fast-260128', prompt },
  { model: gamma, prompt },
  media(allMedia),
  media([...items(1, 'first_frame'), ...items(1, 'last_frame')]),
  media(items(1, 'link')),
  media(items(1, 'reference_video')),
  { model: 'another-video', prompt },
  { model: 'another-video', images: [url] },
  { model: 'another-video', reference_images: [{ url }] },
  seedance20({ video_url: [url, url, url], image: url }),
  { ...seedance20({ audio_url: [url, url, url] }), image: url },
  { model: 'eta-imagine-video', prompt },
  { model: 'eta-imagine-video', prompt, video: { url } },
  { model: 'eta-imagine-video-1.5-preview', prompt },
  { model: 'eta-imagine-video-1.5-preview', prompt, reference_images: [{ url }] },
];

const forms: readonly Json[] = [{ model: 'another-video', prompt }];

const view = { type: 'png', file_token: url };

/**
 * Minimal valid requests for every kind of model with its own limits, so that only the limit under test causes an error.
 * The checks use them before the documented examples.
 */
export const seedRequests: Readonly<Record<string, readonly Json[]>> = {
  'generateMultimodalSpeech application/json': [
    { model: 'alpha3-tts-instruct-flash', input: { text: 'Hello.', voice: 'Aria' } },
    {
      model: 'beta/speech-2.8-hd',
      input: { text: 'Hello.', voice_setting: { voice_id: 'beta_female_calm' } },
    },
  ],
  'createVideo application/json': videos,
  'createVideo multipart/form-data': forms,
  'createGenericVideo application/json': videos,
  'createGenericVideo multipart/form-data': forms,
  'createNativeVideo application/json': [
    { model: gamma, input: { prompt, media: allMedia } },
    { model: gamma, input: { prompt, media: items(1, 'reference_video') } },
  ],
  'createOfficialVideo application/json': [
    official('epsilon-delta-2-5-260628'),
    official('epsilon-delta-2-0-260128'),
    official('epsilon-delta-2-0-260128', allFiles),
    official('epsilon-delta-2-0-fast-260128'),
  ],
  'createModel3d application/json': [{ model: 'theta-3d', input: { images: [view, view, view, view] } }],
  // Empty lines are ignored.
  'createToken application/json': [
    { name: 'a key', remain_quota: 0, allow_ips: '192.0.2.7'.padEnd(8192, '\n') },
  ],
  'createUserToken application/json': [
    { name: 'a key', remain_quota: 0, allow_ips: '192.0.2.7'.padEnd(8192, '\n') },
  ],
  'updateToken application/json': [{ allow_ips: '192.0.2.7'.padEnd(8192, '\n') }],
  'createMusic application/json': [
    { input: { prompt } },
    { custom_mode: true, input: { continue_clip_id: 'a', continue_at: 1, prompt } },
  ],
};
