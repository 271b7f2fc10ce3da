import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { CustomVoice, NewVoice } from '../custom-voices/custom-voices.ts';
import { createDesignedTimbre } from '../custom-voices/designed-timbre.ts';
import {
  checkVoiceLimit,
  createRandomSuffix,
  findRequestedVoice,
  formatTime,
  loadTimbre,
  readPage,
  readTargetModel,
  speakPreview,
  type VoiceAction,
  type VoiceActions,
} from './voice-request.ts';

const minRecordingSeconds = 3;
const defaultAnalyzedSeconds = 10;
const prefixPattern = /^[A-Za-z0-9]{1,10}$/;
const prefixRule = '1 to 10 letters and digits';
const previewChoices = { sampleRates: [16000, 24000, 48000], formats: ['pcm', 'wav', 'mp3'] } as const;

/** Cloned and designed voices of the voxa and alpha-audio models. A new voice is usable after its deployment. */
export const voiceEnrollmentActions: VoiceActions = {
  create_voice: (action) => (action.input.has('voice_prompt') ? design(action) : clone(action)),

  list_voice: ({ exchange, service, input }) => {
    const prefix = input.has('prefix') ? input.pattern('prefix', prefixPattern, prefixRule) : undefined;
    const voices = exchange.services.voices
      .list(service.id)
      .filter(({ name }) => prefix === undefined || name === prefix);
    return { voice_list: readPage(input, voices).voices.map(formatListItem) };
  },

  query_voice: (action) => formatDetails(findRequestedVoice(action, 'voice_id')),

  update_voice: async (action) => {
    const voice = findRequestedVoice(action, 'voice_id');
    if (voice.kind === 'designed') throw action.input.invalid('voice_id', 'must be a cloned voice');
    const recording = action.input.requiredString('url');
    const timbre = await cloneTimbre(action, recording);
    const refused = action.triggers.has('undeployed');
    action.exchange.services.voices.replace(voice.id, { timbre, recording }, { refused });
    return {};
  },

  delete_voice: (action) => {
    action.exchange.services.voices.delete(findRequestedVoice(action, 'voice_id').id);
    return {};
  },
};

async function clone(action: VoiceAction): Promise<object> {
  const { input } = action;
  const voice = newVoice(action);
  const recording = input.requiredString('url');
  const timbre = await cloneTimbre(action, recording);
  const id = `${voice.targetModel}-${voice.name}-${createRandomSuffix(16)}`;
  addVoice(action, { ...voice, id, kind: 'cloned', timbre, recording });
  return { voice_id: id };
}

async function design(action: VoiceAction): Promise<object> {
  const { input } = action;
  if (input.has('url')) throw input.invalid('voice_prompt', 'and input.url are mutually exclusive');
  const voice = newVoice(action);
  const description = input.limitedString('voice_prompt', 500);
  const timbre = createDesignedTimbre(description);
  const preview = { timbre, maxCharacters: 200, language: voice.language };
  const preview_audio = await speakPreview(action, preview, previewChoices);
  const id = `${voice.targetModel}-vd-${voice.name}-${createRandomSuffix(16)}`;
  const previewText = input.string('preview_text');
  addVoice(action, { ...voice, id, kind: 'designed', timbre, description, previewText });
  return { voice_id: id, target_model: voice.targetModel, preview_audio };
}

function newVoice({ exchange, service, input }: VoiceAction) {
  checkVoiceLimit(exchange);
  const [hint] = input.list('language_hints');
  if (hint !== undefined && typeof hint !== 'string') {
    throw input.invalid('language_hints', 'must contain language codes');
  }
  return {
    service: service.id,
    targetModel: readTargetModel(input, speaksEnrolledVoices).id,
    name: input.pattern('prefix', prefixPattern, prefixRule),
    language: hint ?? 'zh',
  };
}

function speaksEnrolledVoices({ family }: CatalogueModel): boolean {
  return family === 'voxa' || family === 'alpha-audio';
}

async function cloneTimbre({ exchange, input }: VoiceAction, recording: string) {
  return await loadTimbre(exchange, recording, {
    field: 'input.url',
    minSeconds: minRecordingSeconds,
    usedSeconds: input.number('max_prompt_audio_length', { min: 3, max: 30 }, defaultAnalyzedSeconds),
    normalizeVolume: input.flag('enable_preprocess'),
  });
}

function addVoice({ exchange, triggers }: VoiceAction, voice: NewVoice): void {
  exchange.services.voices.add(voice, { isGradual: true, refused: triggers.has('undeployed') });
}

function formatListItem(voice: CustomVoice): object {
  return { voice_id: voice.id, ...formatState(voice), ...formatPrompts(voice) };
}

function formatDetails(voice: CustomVoice): object {
  const own = voice.kind === 'designed' ? { voice_id: voice.id } : { resource_link: voice.recording };
  return { ...formatState(voice), target_model: voice.targetModel, ...own, ...formatPrompts(voice) };
}

function formatState({ createdAt, changedAt, status }: CustomVoice): object {
  return { gmt_create: formatTime(createdAt), gmt_modified: formatTime(changedAt), status };
}

function formatPrompts({ description, previewText }: CustomVoice): object {
  return description === undefined ? {} : { voice_prompt: description, preview_text: previewText };
}
