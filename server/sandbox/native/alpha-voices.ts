import type { CustomVoice } from '../custom-voices/custom-voices.ts';
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
  type VoiceActionHandler,
  type VoiceActions,
} from './voice-request.ts';

const minRecordingSeconds = 3;
/** Maximum length of the recording that is analyzed. */
const analyzedSeconds = 30;
const namePattern = /^[A-Za-z0-9_]{1,16}$/;
const nameRule = '1 to 16 letters, digits and underscores';
const languages = ['zh', 'en', 'de', 'it', 'pt', 'es', 'ja', 'ko', 'fr', 'ru'];
const previewChoices = {
  sampleRates: [8000, 16000, 24000, 48000],
  formats: ['pcm', 'wav', 'mp3', 'opus'],
} as const;

const list: VoiceActionHandler = ({ exchange, service, input }) => {
  const all = exchange.services.voices.list(service.id);
  const { voices, index, size } = readPage(input, all);
  return {
    page_index: index,
    page_size: size,
    total_count: all.length,
    voice_list: voices.map(formatDetails),
  };
};

const remove: VoiceActionHandler = (action) => {
  const { id } = findRequestedVoice(action, 'voice');
  action.exchange.services.voices.delete(id);
  return { voice: id };
};

/** Cloned voices of the alpha VC models, usable immediately. */
export const alphaCloneActions: VoiceActions = {
  create: async (action) => {
    const { exchange, input } = action;
    const voice = newVoice(action, 'cloned');
    input.string('text');
    const recording = input.requiredObject('audio').requiredString('data');
    const options = {
      field: 'input.audio.data',
      minSeconds: minRecordingSeconds,
      usedSeconds: analyzedSeconds,
    };
    const timbre = await loadTimbre(exchange, recording, options);
    exchange.services.voices.add({ ...voice, kind: 'cloned', timbre });
    return { voice: voice.id, target_model: voice.targetModel };
  },
  list,
  delete: remove,
};

/** Designed voices of the alpha VD models, usable immediately. */
export const alphaDesignActions: VoiceActions = {
  create: async (action) => {
    const { exchange, input } = action;
    const voice = newVoice(action, 'designed');
    const description = input.limitedString('voice_prompt', 2048);
    const timbre = createDesignedTimbre(description);
    const preview = { timbre, maxCharacters: 1024, language: voice.language };
    const preview_audio = await speakPreview(action, preview, previewChoices);
    const previewText = input.string('preview_text');
    exchange.services.voices.add({ ...voice, kind: 'designed', timbre, description, previewText });
    return { voice: voice.id, target_model: voice.targetModel, preview_audio };
  },
  list,
  query: (action) => formatDetails(findRequestedVoice(action, 'voice')),
  delete: remove,
};

function newVoice({ exchange, service, input }: VoiceAction, kind: 'cloned' | 'designed') {
  checkVoiceLimit(exchange);
  const target = readTargetModel(input, ({ voices }) => voices === kind);
  const name = input.pattern('preferred_name', namePattern, nameRule);
  const day = formatTime(exchange.services.now()).slice(0, 10).replaceAll('-', '');
  return {
    id: `alpha-tts-${kind === 'cloned' ? 'vc' : 'vd'}-${name}-voice-${day}-${createRandomSuffix(4)}`,
    service: service.id,
    targetModel: target.id,
    name,
    language: input.choice('language', languages, 'zh'),
  };
}

function formatDetails(voice: CustomVoice): object {
  return {
    voice: voice.id,
    gmt_create: formatTime(voice.createdAt),
    gmt_modified: formatTime(voice.changedAt),
    language: voice.language,
    target_model: voice.targetModel,
    ...(voice.kind === 'designed' && { voice_prompt: voice.description, preview_text: voice.previewText }),
  };
}
