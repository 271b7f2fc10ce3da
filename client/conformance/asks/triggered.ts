import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import type { World } from '../subject/world.ts';
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

const words = [
  ['reject', 400],
  ['throttle', 429],
  ['error', 502],
  ['unavailable', 503],
] as const;

/** What a provider's failures look like to a client, where words in the request bring them about. */
export function triggered(operation: DocumentedOperation, world: World): Ask[] {
  const say = saying[(operation.aliasOf ?? operation.id) as OperationId];
  if (!world.triggers || say === undefined || operation.aliasOf !== undefined) return [];
  return words.map(([word, status]) => ({
    name: `${status} on [[${word}]]`,
    status,
    mayBeProviders: status === 400,
    variation: { body: say(`A song of the sea. [[${word}]]`) },
    // Some failures in a row take a channel out; a good answer in between keeps it.
    verify: async () => {
      if (status !== 400) await world.caller.send(world.target, operation, plainRequest(operation));
      return [];
    },
  }));
}
