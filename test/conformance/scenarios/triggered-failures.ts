import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { RunContext } from '../context/run-context.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import type { Variation } from '../wire/exchange.ts';
import type { Scenario } from './scenario.ts';
import { validRequest } from './valid-request.ts';

/** Builds a body with a text in the field that the sandbox scans for triggers. */
const bodyWithText: Partial<Record<OperationId, (words: string) => JsonObject>> = {
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

/** Streams that fail after some events. */
const failingStreams: Partial<Record<OperationId, readonly Variation[]>> = {
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

const triggers = [
  ['reject', 400],
  ['throttle', 429],
  ['error', 502],
  ['unavailable', 503],
] as const;

/** Invalid provider responses. One operation of each error family covers them. */
const invalidResponses: Partial<Record<OperationId, readonly (readonly [string, string])[]>> = {
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

/** Provider failures that triggers in the request cause. */
export function triggeredFailures(operation: DocumentedOperation, context: RunContext): Scenario[] {
  const bodyOf = bodyWithText[(operation.aliasOf ?? operation.id) as OperationId];
  if (!context.triggers || bodyOf === undefined || operation.aliasOf !== undefined) return [];
  const restore = async () => {
    await context.caller.send(context.target, operation, validRequest(operation));
    return [];
  };
  const broken = (failingStreams[operation.id as OperationId] ?? []).map((variation, index) => ({
    name: `200 a stream that fails, ${index + 1}`,
    status: 200,
    mediaType: 'text/event-stream',
    variation,
    verify: restore,
  }));
  const rejected = triggers.map(([word, status]) => ({
    name: `${status} on [[${word}]]`,
    status,
    allowsProviderError: status === 400,
    variation: { body: bodyOf(`A song of the sea. [[${word}]]`) },
    // Several failures in a row cool a channel down. A successful response between them prevents this.
    verify: async () => (status === 400 ? [] : restore()),
  }));
  const invalid = (invalidResponses[operation.id as OperationId] ?? []).map(([word, code]) => ({
    name: `502 on [[${word}]]`,
    status: 502,
    variation: { body: bodyOf(`A song of the sea. [[${word}]]`) },
    expected: { code },
    verify: restore,
  }));
  return [...rejected, ...invalid, ...broken];
}
