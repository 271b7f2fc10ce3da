import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { CustomVoice, NewVoice } from '../custom-voices/custom-voices.ts';
import { designedTimbre } from '../custom-voices/designed-timbre.ts';
import {
  checkRoom,
  pageOf,
  randomSuffix,
  requestedVoice,
  speakPreview,
  targetModel,
  timbreOf,
  type VoiceAction,
  type VoiceActions,
  writeTime,
} from './voice-request.ts';

const minRecordingSeconds = 3;
const defaultUsed = 10;
const prefixPattern = /^[A-Za-z0-9]{1,10}$/;
const prefixRule = '1 to 10 letters and digits';
const previewChoices = { sampleRates: [16000, 24000, 48000], formats: ['pcm', 'wav', 'mp3'] } as const;

/** Voices of the voxa and alpha-audio models, cloned and designed. A new voice is deployed before it can speak. */
export const voiceEnrollmentActions: VoiceActions = {
  create_voice: (action) => (action.input.has('voice_prompt') ? design(action) : clone(action)),

  list_voice: ({ exchange, service, input }) => {
    const prefix = input.has('prefix') ? input.pattern('prefix', prefixPattern, prefixRule) : undefined;
    const voices = exchange.services.voices
      .list(service.id)
      .filter(({ name }) => prefix === undefined || name === prefix);
    return { voice_list: pageOf(input, voices).voices.map(listItem) };
  },

  query_voice: (action) => details(requestedVoice(action, 'voice_id')),

  update_voice: async (action) => {
    const voice = requestedVoice(action, 'voice_id');
    if (voice.kind === 'designed') throw action.input.wrong('voice_id', 'must be a cloned voice');
    const recording = action.input.requiredString('url');
    const timbre = await clonedFrom(action, recording);
    const refused = action.triggers.has('undeployed');
    action.exchange.services.voices.replace(voice.id, { timbre, recording }, { refused });
    return {};
  },

  delete_voice: (action) => {
    action.exchange.services.voices.delete(requestedVoice(action, 'voice_id').id);
    return {};
  },
};

async function clone(action: VoiceAction): Promise<object> {
  const { input } = action;
  const made = newVoice(action);
  const recording = input.requiredString('url');
  const timbre = await clonedFrom(action, recording);
  const id = `${made.targetModel}-${made.name}-${randomSuffix(16)}`;
  addVoice(action, { ...made, id, kind: 'cloned', timbre, recording });
  return { voice_id: id };
}

async function design(action: VoiceAction): Promise<object> {
  const { input } = action;
  if (input.has('url')) throw input.wrong('voice_prompt', 'and input.url exclude each other');
  const made = newVoice(action);
  const description = input.limitedString('voice_prompt', 500);
  const timbre = designedTimbre(description);
  const preview = { timbre, maxCharacters: 200, language: made.language };
  const preview_audio = await speakPreview(action, preview, previewChoices);
  const id = `${made.targetModel}-vd-${made.name}-${randomSuffix(16)}`;
  const previewText = input.string('preview_text');
  addVoice(action, { ...made, id, kind: 'designed', timbre, description, previewText });
  return { voice_id: id, target_model: made.targetModel, preview_audio };
}

function newVoice({ exchange, service, input }: VoiceAction) {
  checkRoom(exchange);
  const [hint] = input.list('language_hints');
  if (hint !== undefined && typeof hint !== 'string') {
    throw input.wrong('language_hints', 'must hold language codes');
  }
  return {
    service: service.id,
    targetModel: targetModel(input, speaksEnrolledVoices).id,
    name: input.pattern('prefix', prefixPattern, prefixRule),
    language: hint ?? 'zh',
  };
}

function speaksEnrolledVoices({ family }: CatalogueModel): boolean {
  return family === 'voxa' || family === 'alpha-audio';
}

async function clonedFrom({ exchange, input }: VoiceAction, recording: string) {
  return await timbreOf(exchange, recording, {
    field: 'input.url',
    minSeconds: minRecordingSeconds,
    used: input.number('max_prompt_audio_length', { min: 3, max: 30 }, defaultUsed),
    normalizeVolume: input.flag('enable_preprocess'),
  });
}

function addVoice({ exchange, triggers }: VoiceAction, voice: NewVoice): void {
  exchange.services.voices.add(voice, { gradual: true, refused: triggers.has('undeployed') });
}

function listItem(voice: CustomVoice): object {
  return { voice_id: voice.id, ...state(voice), ...wording(voice) };
}

function details(voice: CustomVoice): object {
  const own = voice.kind === 'designed' ? { voice_id: voice.id } : { resource_link: voice.recording };
  return { ...state(voice), target_model: voice.targetModel, ...own, ...wording(voice) };
}

function state({ createdAt, changedAt, status }: CustomVoice): object {
  return { gmt_create: writeTime(createdAt), gmt_modified: writeTime(changedAt), status };
}

function wording({ description, previewText }: CustomVoice): object {
  return description === undefined ? {} : { voice_prompt: description, preview_text: previewText };
}
