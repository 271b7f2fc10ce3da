import type { ModelEntry } from '../catalogue.ts';

/** A kind of models, which have the same routes and the same page layout. */
export type ModelKind = keyof typeof kinds;

export interface KindFacts {
  /** Heading in the list of models. */
  title: string;
  /** Verb phrase after the id of a model. */
  does: string;
  /** Operations that create something with a model, the recommended one first. */
  operations: readonly string[];
  guide: { page: string; title: string };
  /** The page of the console that uses the models. Undefined: there is none. */
  consolePage?: ConsolePage;
}

interface ConsolePage {
  path: string;
  title: string;
}

/** The kinds, in the order of the list of models. */
export const kinds = {
  speech: {
    title: 'Text to speech',
    does: 'converts text to speech',
    operations: ['createSpeech'],
    guide: { page: 'text-to-speech', title: 'Text to speech' },
    consolePage: { path: 'speech', title: 'Speech' },
  },
  realtime: {
    title: 'Realtime speech',
    does: 'converts text to speech over a WebSocket, while the text is still being written',
    operations: ['openRealtimeSocket'],
    guide: { page: 'realtime', title: 'Realtime' },
    consolePage: { path: 'speech', title: 'Speech' },
  },
  voices: {
    title: 'Custom voices',
    does: 'creates and manages custom voices',
    operations: ['customizeVoice'],
    guide: { page: 'text-to-speech#custom-voices', title: 'Custom voices' },
    consolePage: { path: 'voices', title: 'Voices' },
  },
  video: {
    title: 'Video',
    does: 'generates videos',
    operations: ['createVideo', 'createGenericVideo'],
    guide: { page: 'video', title: 'Video generation' },
    consolePage: { path: 'video', title: 'Video' },
  },
  model3d: {
    title: '3D objects',
    does: 'generates 3D objects from a text or from images',
    operations: ['createModel3d'],
    guide: { page: '3d-objects', title: '3D objects' },
    consolePage: { path: '3d', title: '3D' },
  },
  music: {
    title: 'Music',
    does: 'generates songs',
    operations: ['submitMusic'],
    guide: { page: 'music', title: 'Music and lyrics' },
    consolePage: { path: 'music', title: 'Music' },
  },
  lyrics: {
    title: 'Lyrics',
    does: 'generates lyrics',
    operations: ['submitLyrics'],
    guide: { page: 'music', title: 'Music and lyrics' },
    consolePage: { path: 'music', title: 'Music' },
  },
  images: {
    title: 'Images',
    does: 'generates images and applies actions to them',
    operations: ['submitImagine', 'submitImageAction', 'submitImageModal'],
    guide: { page: 'images', title: 'Images' },
    consolePage: { path: 'images', title: 'Images' },
  },
  messages: {
    title: 'Text generation',
    does: 'generates text',
    operations: ['createMessage', 'countMessageTokens'],
    guide: { page: 'text-generation', title: 'Text generation and embeddings' },
    consolePage: { path: 'messages', title: 'Messages' },
  },
  embeddings: {
    title: 'Embeddings',
    does: 'converts texts to vectors',
    operations: ['createEmbedding'],
    guide: { page: 'text-generation#embeddings', title: 'Embeddings' },
    consolePage: { path: 'embeddings', title: 'Embeddings' },
  },
  verification: {
    title: 'Identity verification',
    does: 'verifies that a person is present and alive',
    operations: ['createVerificationSession'],
    guide: { page: 'identity-verification', title: 'Identity verification' },
  },
} as const satisfies Record<string, KindFacts>;

const kindByProtocol: Readonly<Record<string, ModelKind>> = {
  synthesizer: 'speech',
  multimodal: 'speech',
  inference: 'speech',
  realtime: 'realtime',
  customization: 'voices',
  native_video: 'video',
  official: 'video',
  eta: 'video',
  native_3d: 'model3d',
  sigma: 'music',
  imgjob: 'images',
  embeddings: 'embeddings',
  messages: 'messages',
  verification: 'verification',
};

/** Operations in the provider's own format, by protocol. */
const nativeOperations: Readonly<Record<string, string>> = {
  synthesizer: 'synthesizeSpeech',
  multimodal: 'generateMultimodalSpeech',
  inference: 'openInferenceSocket',
  native_video: 'createNativeVideo',
  official: 'createOfficialVideo',
};

/** Returns the kind of a model. Throws if a protocol is new and has no page layout. */
export function kindOf({ id, protocols }: ModelEntry): ModelKind {
  const kind = kindByProtocol[protocols[0] ?? ''];
  if (kind === undefined) throw new Error(`models.yaml: ${id} has a protocol without a page layout`);
  return kind === 'music' && id.endsWith('_lyrics') ? 'lyrics' : kind;
}

/** Returns the ids of the operations that a model can be used with, the recommended one first. */
export function operationsFor(model: ModelEntry): string[] {
  const native = model.protocols.flatMap((protocol) => nativeOperations[protocol] ?? []);
  return [...kinds[kindOf(model)].operations, ...native];
}

/** Returns the models that a voice service creates voices for. */
export function voiceTargets({ id }: ModelEntry, models: readonly ModelEntry[]): ModelEntry[] {
  const isTarget: Readonly<Record<string, (model: ModelEntry) => boolean>> = {
    'voice-enrollment': ({ family }) => family === 'voxa' || family === 'alpha-audio',
    'alpha-voice-enrollment': ({ voices }) => voices === 'cloned',
    'alpha-voice-design': ({ voices }) => voices === 'designed',
  };
  return models.filter(isTarget[id] ?? (() => false));
}
