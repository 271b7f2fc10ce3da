import type { CustomVoice } from '../custom-voices/custom-voices.ts';
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
  type VoiceActionHandler,
  type VoiceActions,
  writeTime,
} from './voice-request.ts';

const minRecordingSeconds = 3;
/** How much of a recording is measured. */
const usedSeconds = 30;
const namePattern = /^[A-Za-z0-9_]{1,16}$/;
const nameRule = '1 to 16 letters, digits and underscores';
const languages = ['zh', 'en', 'de', 'it', 'pt', 'es', 'ja', 'ko', 'fr', 'ru'];
const previewChoices = {
  sampleRates: [8000, 16000, 24000, 48000],
  formats: ['pcm', 'wav', 'mp3', 'opus'],
} as const;

const list: VoiceActionHandler = ({ exchange, service, input }) => {
  const all = exchange.services.voices.list(service.id);
  const { voices, index, size } = pageOf(input, all);
  return { page_index: index, page_size: size, total_count: all.length, voice_list: voices.map(details) };
};

const remove: VoiceActionHandler = (action) => {
  const { id } = requestedVoice(action, 'voice');
  action.exchange.services.voices.delete(id);
  return { voice: id };
};

/** Cloned voices of the alpha VC models, usable at once. */
export const alphaCloneActions: VoiceActions = {
  create: async (action) => {
    const { exchange, input } = action;
    const made = newVoice(action, 'cloned');
    input.string('text');
    const recording = input.requiredObject('audio').requiredString('data');
    const options = { field: 'input.audio.data', minSeconds: minRecordingSeconds, used: usedSeconds };
    const timbre = await timbreOf(exchange, recording, options);
    exchange.services.voices.add({ ...made, kind: 'cloned', timbre });
    return { voice: made.id, target_model: made.targetModel };
  },
  list,
  delete: remove,
};

/** Designed voices of the alpha VD models, usable at once. */
export const alphaDesignActions: VoiceActions = {
  create: async (action) => {
    const { exchange, input } = action;
    const made = newVoice(action, 'designed');
    const description = input.limitedString('voice_prompt', 2048);
    const timbre = designedTimbre(description);
    const preview = { timbre, maxCharacters: 1024, language: made.language };
    const preview_audio = await speakPreview(action, preview, previewChoices);
    const previewText = input.string('preview_text');
    exchange.services.voices.add({ ...made, kind: 'designed', timbre, description, previewText });
    return { voice: made.id, target_model: made.targetModel, preview_audio };
  },
  list,
  query: (action) => details(requestedVoice(action, 'voice')),
  delete: remove,
};

function newVoice({ exchange, service, input }: VoiceAction, kind: 'cloned' | 'designed') {
  checkRoom(exchange);
  const target = targetModel(input, ({ voices }) => voices === kind);
  const name = input.pattern('preferred_name', namePattern, nameRule);
  const day = writeTime(exchange.services.now()).slice(0, 10).replaceAll('-', '');
  return {
    id: `alpha-tts-${kind === 'cloned' ? 'vc' : 'vd'}-${name}-voice-${day}-${randomSuffix(4)}`,
    service: service.id,
    targetModel: target.id,
    name,
    language: input.choice('language', languages, 'zh'),
  };
}

function details(voice: CustomVoice): object {
  return {
    voice: voice.id,
    gmt_create: writeTime(voice.createdAt),
    gmt_modified: writeTime(voice.changedAt),
    language: voice.language,
    target_model: voice.targetModel,
    ...(voice.kind === 'designed' && { voice_prompt: voice.description, preview_text: voice.previewText }),
  };
}
