import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import type { World } from '../subject/world.ts';
import type { Variation } from '../wire/exchange.ts';
import type { Ask } from './ask.ts';
import { plainRequest } from './plain.ts';

/** A body with words where the provider of each operation looks for them. */
const saying: Partial<Record<OperationId, (words: string) => JsonObject>> = {
  createSpeech: (input) => ({ model: 'voxa-v3-flash', voice: 'voxanna', input }),
  synthesizeSpeech: (text) => ({ model: 'voxa-v3-flash', input: { text, voice: 'voxanna' } }),
  generateMultimodalSpeech: (text) => ({ model: 'alpha3-tts-flash', input: { text, voice: 'Aria' } }),
  customizeVoice: (voice_prompt) => ({
    model: 'voice-enrollment',
    input: {
      action: 'create_voice',
      target_model: 'voxa-v3.5-flash',
      prefix: 'conform',
      voice_prompt,
      preview_text: 'Hello there.',
    },
  }),
  createVideo: (prompt) => ({ model: 'gamma3.0-video', prompt }),
  createGenericVideo: (prompt) => ({ model: 'gamma3.0-video', prompt }),
  createNativeVideo: (prompt) => ({ model: 'gamma3.0-video', input: { prompt } }),
  createOfficialVideo: (text) => ({ model: 'epsilon-delta-2-0-260128', content: [{ type: 'text', text }] }),
  createModel3d: (prompt) => ({ model: 'theta-3d', input: { prompt } }),
  uploadAsset: (name) => ({ url: 'https://files.example/cat.png', asset_type: 'Image', name }),
  submitMusic: (prompt) => ({ prompt }),
  createMusic: (prompt) => ({ input: { prompt } }),
  submitLyrics: (prompt) => ({ prompt }),
  submitImagine: (prompt) => ({ prompt }),
  createEmbedding: (input) => ({ model: 'theta-embedding-1', input }),
  createMessage: (content) => ({
    model: 'iota-chat-1',
    max_tokens: 16,
    messages: [{ role: 'user', content }],
  }),
  countMessageTokens: (content) => ({ model: 'iota-chat-1', messages: [{ role: 'user', content }] }),
  createVerificationSession: (words) => ({
    callback_url: `https://app.example/${encodeURIComponent(words)}`,
  }),
};

const late = '[[fail-late]] Good morning.';
const native = { headers: { 'x-native-sse': 'enable' } };
const beta = 'beta/speech-2.8-hd';
const voice_setting = { voice_id: 'beta_female_calm' };

/** Streams that fail when some of their events have come. */
const streams: Partial<Record<OperationId, readonly Variation[]>> = {
  createSpeech: [
    { model: 'voxa-v3-flash', voice: 'voxanna', input: late },
    { model: 'beta/speech-02-turbo', voice: 'beta_female_calm', input: '[[base-resp:1002]] Good morning.' },
  ].map((body) => ({ body: { ...body, stream: true, stream_format: 'sse' } })),
  synthesizeSpeech: [
    { body: { model: 'voxa-v3-flash', input: { text: late, voice: 'voxanna' } }, ...native },
  ],
  generateMultimodalSpeech: [
    { body: { model: beta, input: { text: '[[base-resp:1002]] Good morning.', voice_setting } }, ...native },
  ],
  createMessage: [
    {
      body: {
        model: 'iota-chat-1',
        max_tokens: 64,
        stream: true,
        messages: [{ role: 'user', content: '[[fail-late]] Hi there.' }],
      },
    },
  ],
};

const words = [
  ['reject', 400],
  ['throttle', 429],
  ['error', 502],
  ['unavailable', 503],
] as const;

/** Answers that are none, which one operation of each family is enough for. */
const unusable: Partial<Record<OperationId, readonly (readonly [string, string])[]>> = {
  createEmbedding: [
    ['malformed', 'bad_response'],
    ['drop', 'do_request_failed'],
  ],
  createMessage: [
    ['malformed', 'bad_response'],
    ['drop', 'do_request_failed'],
  ],
  generateMultimodalSpeech: [
    ['malformed', 'bad_response'],
    ['drop', 'do_request_failed'],
  ],
};

/** What a provider's failures look like to a client, where words in the request bring them about. */
export function triggered(operation: DocumentedOperation, world: World): Ask[] {
  const say = saying[(operation.aliasOf ?? operation.id) as OperationId];
  if (!world.triggers || say === undefined || operation.aliasOf !== undefined) return [];
  const restore = async () => {
    await world.caller.send(world.target, operation, plainRequest(operation));
    return [];
  };
  const broken = (streams[operation.id as OperationId] ?? []).map((variation, index) => ({
    name: `200 events up to a failure, ${index + 1}`,
    status: 200,
    type: 'text/event-stream',
    variation,
    verify: restore,
  }));
  const refused = words.map(([word, status]) => ({
    name: `${status} on [[${word}]]`,
    status,
    mayBeProviders: status === 400,
    variation: { body: say(`A song of the sea. [[${word}]]`) },
    // Some failures in a row take a channel out; a good answer in between keeps it.
    verify: async () => (status === 400 ? [] : restore()),
  }));
  const useless = (unusable[operation.id as OperationId] ?? []).map(([word, code]) => ({
    name: `502 on [[${word}]]`,
    status: 502,
    variation: { body: say(`A song of the sea. [[${word}]]`) },
    expected: { code },
    verify: restore,
  }));
  return [...refused, ...useless, ...broken];
}
