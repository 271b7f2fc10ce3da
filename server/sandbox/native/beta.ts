import { type CatalogueModel, families } from '../../../generated/catalogue.ts';
import type { CustomVoices } from '../custom-voices/custom-voices.ts';
import { requestsEvents } from '../http/event-stream.ts';
import type { Exchange } from '../http/exchange.ts';
import { invalidParameter } from '../http/native-error.ts';
import { languageTypes } from '../language.ts';
import { combineProsody, emotionProsody, neutralProsody } from '../prosody.ts';
import { splitText } from '../sentences.ts';
import { findTriggers } from '../triggers.ts';
import type { VoiceTimbre } from '../voices.ts';
import { readBetaAudio } from './audio-settings.ts';
import { cloneBetaVoice } from './beta-clone.ts';
import { type BetaOptions, validateBetaOptions } from './beta-errors.ts';
import { betaWriter, createErrorReply, sendReply } from './beta-reply.ts';
import type { Parameters } from './parameters.ts';
import type { SpeechRequest } from './speech.ts';
import { respondWithSpeech } from './speech-response.ts';
import { readVoice } from './voice-fields.ts';

const soundEffects = ['spacious_echo', 'auditorium_echo', 'lofi_telephone', 'robotic'];

/** Handles the beta models: hex audio in `output.data.audio`, and engine errors as HTTP 200 with `base_resp`. */
export async function generateBetaSpeech(
  exchange: Exchange,
  model: CatalogueModel,
  input: Parameters,
): Promise<void> {
  if (input.has('action')) return await cloneBetaVoice(exchange, model, input);
  const text = input.requiredString('text');
  const limit = families[model.family].maxCharacters ?? Infinity;
  if (Array.from(text).length > limit)
    throw invalidParameter(`input.text must not be longer than ${limit} characters`);
  if (text.trim() === '') throw invalidParameter('input.text contains no text to speak');

  const audio = readBetaAudio(input);
  const { timbre, speech: prosody } = readVoiceSetting(input, model, exchange.services.voices);
  const modify = input.object('voice_modify');
  const boost = input.string('language_boost');
  const request: SpeechRequest = {
    text,
    sentences: splitText(text, { pauses: true, interjections: model.id.includes('2.8') }),
    timbre,
    language: boost === undefined ? undefined : languageTypes[boost],
    prosody: combineProsody(prosody, {
      pitch: 2 ** ((modify?.integer('pitch', { min: -100, max: 100 }, 0) ?? 0) / 100),
      volume: 2 ** ((modify?.integer('intensity', { min: -100, max: 100 }, 0) ?? 0) / 100),
      range: 2 ** ((modify?.integer('timbre', { min: -100, max: 100 }, 0) ?? 0) / 100),
    }),
    audio,
  };
  modify?.optionalChoice('sound_effects', soundEffects);
  input.object('pronunciation_dict')?.list('tone');
  const options: BetaOptions = {
    text,
    format: audio.format,
    streaming: requestsEvents(exchange),
    url: input.choice('output_format', ['hex', 'url'], 'hex') === 'url',
    subtitles: input.flag('subtitle_enable'),
    watermark: input.flag('aigc_watermark'),
    aggregate: !(input.object('stream_options')?.flag('exclude_aggregated_audio') ?? false),
    modified: modify !== undefined,
  };

  const requestedCode = findTriggers(text).get('base-resp');
  const error = requestedCode === undefined ? validateBetaOptions(options) : { code: requestedCode };
  if (error) return await sendReply(exchange, createErrorReply(exchange, error));
  await respondWithSpeech(exchange, request, betaWriter(exchange, request, options), options.streaming);
}

function readVoiceSetting(input: Parameters, model: CatalogueModel, voices: CustomVoices) {
  const setting = input.requiredObject('voice_setting');
  const volume = setting.number('vol', { min: 0, max: 10 }, 1);
  if (volume === 0) throw invalidParameter('input.voice_setting.vol must be above 0');
  const emotion = setting.optionalChoice('emotion', Object.keys(emotionProsody));
  if (emotion === 'whisper' && model.id.includes('2.8')) {
    throw invalidParameter(`input.voice_setting.emotion must not be whisper for model ${model.id}`);
  }
  setting.flag('text_normalization');
  setting.flag('latex_read');
  const base = combineProsody(neutralProsody, {
    rate: setting.number('speed', { min: 0.5, max: 2 }, 1),
    volume,
    pitch: 2 ** (setting.integer('pitch', { min: -12, max: 12 }, 0) / 12),
  });
  const speech = combineProsody(base, emotion === undefined ? {} : (emotionProsody[emotion] ?? {}));
  return { timbre: chooseTimbre(input, setting, model, voices), speech };
}

/** Returns the voice, or the weighted voice with the highest weight, because the engine cannot blend voices. */
function chooseTimbre(
  input: Parameters,
  setting: Parameters,
  model: CatalogueModel,
  voices: CustomVoices,
): VoiceTimbre {
  const weighted = input.objects('timbre_weights', 4).map((item) => ({
    id: item.requiredString('voice_id'),
    weight: item.integer('weight', { min: 1, max: 100 }, 1),
  }));
  const heaviest = weighted.toSorted((first, second) => second.weight - first.weight)[0];
  const id = heaviest && !setting.string('voice_id') ? heaviest.id : setting.requiredString('voice_id');
  return readVoice(voices, model, setting, 'voice_id', id);
}
