import {
  type CatalogueModel,
  families,
  models,
  type Protocol,
  type Voice,
  voiceSets,
} from '../../generated/catalogue.ts';
import { Failure, invalid } from '../lib/failure.ts';
import type { VideoFamily } from './video-options.ts';

const byId: ReadonlyMap<string, CatalogueModel> = new Map(models.map((model) => [model.id, model]));

/** @throws Failure 404 when the catalog has no such model */
export function findModel(id: string): CatalogueModel {
  const model = byId.get(id);
  if (model === undefined) throw modelNotFound(id);
  return model;
}

/** Builds the 404 for a model that is unknown or has no price. Clients cannot distinguish the two. */
export function modelNotFound(id: string): Failure {
  return new Failure(404, 'model_not_found', `model: ${quoted(id)} does not exist.`);
}

/** Returns the resolution of a video whose request names none. */
export function defaultResolution(family: VideoFamily): string {
  const { defaultResolution: found } = families[family];
  if (found === undefined) throw new Error(`the catalog has no default resolution of ${family} models`);
  return found;
}

export function knownModel(id: string): boolean {
  return byId.has(id);
}

/** @throws Failure 400 when the model has none of these protocols */
export function requireProtocol(model: CatalogueModel, ...protocols: readonly Protocol[]): void {
  if (model.protocols.some((protocol) => protocols.includes(protocol))) return;
  const known = model.protocols.map((name) => routes[name]).join(' or ');
  throw new Failure(400, 'invalid_request', `model: ${model.id} is not served on this route; use ${known}.`);
}

const routes: Readonly<Record<Protocol, string>> = {
  synthesizer: 'POST /api/v1/services/audio/tts/SpeechSynthesizer',
  multimodal: 'POST /api/v1/services/aigc/multimodal-generation/generation',
  inference: 'the socket /api-ws/v1/inference',
  realtime: 'the socket /api-ws/v1/realtime',
  customization: 'POST /api/v1/services/audio/tts/customization',
  native_video: 'POST /api/v1/services/aigc/video-generation/video-synthesis',
  native_3d: 'POST /api/v1/services/aigc/video-generation/3d-generation',
  official: 'POST /api/v3/contents/generations/tasks',
  eta: 'POST /v1/videos',
  sigma: 'POST /sigma/submit/music or /sigma/submit/lyrics',
  imgjob: 'POST /imgjob/submit/imagine',
  embeddings: 'POST /v1/embeddings',
  messages: 'POST /v1/messages',
  verification: 'POST /api/resource-channel/vendorx/visual-validate/sessions',
};

/** Returns a model's system voices. Empty for a model that does not speak. */
export function systemVoices(model: CatalogueModel): readonly Voice[] {
  const set = families[model.family].voiceSet;
  return set === undefined || model.voices === undefined ? [] : voiceSets[set];
}

/** Quotes a client's text in a message and cuts it off. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/** A model that makes custom voices. */
export type VoiceService = 'voice-enrollment' | 'alpha-voice-enrollment' | 'alpha-voice-design';

const targets: Readonly<Record<VoiceService, (model: CatalogueModel) => boolean>> = {
  'voice-enrollment': ({ family }) => family === 'voxa' || family === 'alpha-audio',
  'alpha-voice-enrollment': ({ voices }) => voices === 'cloned',
  'alpha-voice-design': ({ voices }) => voices === 'designed',
};

/** Finds the model that a new voice is for. @throws Failure 400 when the service makes no voices for it */
export function targetModel(service: VoiceService, id: string): CatalogueModel {
  const allowed = models.filter(targets[service]);
  const model = allowed.find((one) => one.id === id);
  if (model !== undefined) return model;
  const list = allowed.map((one) => one.id).join(', ');
  throw invalid('input.target_model', `${service} makes no voices for ${quoted(id)}, only for ${list}.`);
}
