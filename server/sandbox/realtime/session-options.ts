import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { CustomVoices } from '../custom-voices/custom-voices.ts';
import { combine } from '../delivery.ts';
import type { JsonObject } from '../http/json-body.ts';
import { languageTypes } from '../language.ts';
import { Parameters } from '../native/parameters.ts';
import type { SpeechSettings } from '../native/speech.ts';
import { chooseVoice, readInstructions } from '../native/voice-fields.ts';
import type { AudioFormat } from '../speech/commands.ts';

const formats: readonly AudioFormat[] = ['pcm', 'wav', 'mp3', 'opus'];
const sampleRates = [8000, 16000, 24000, 48000];
const alpha3Only = ['speech_rate', 'pitch_rate', 'volume', 'bit_rate'];
const modes = ['server_commit', 'commit'] as const;

/** How a session speaks. */
export interface SessionOptions extends SpeechSettings {
  voice: string;
  mode: (typeof modes)[number];
  /** The same as the client sees it. */
  shown: object;
}

/** Reads a whole session object; throws `InvalidParameter` with the field's name. */
export function readSessionOptions(
  values: JsonObject,
  model: CatalogueModel,
  voices: CustomVoices,
): SessionOptions {
  const session = new Parameters(values, 'session');
  const legacy = model.family === 'alpha-legacy';
  const refused = legacy ? alpha3Only.find((name) => session.has(name)) : undefined;
  if (refused !== undefined) throw session.wrong(refused, `is not taken by model ${model.id}`);

  const timbre = chooseVoice(voices, model, session, 'voice');
  const mode = session.choice('mode', modes, 'server_commit');
  const languageType = session.choice('language_type', Object.keys(languageTypes), 'Auto');
  const format = session.choice('response_format', legacy ? ['pcm'] : formats, 'pcm');
  const sampleRate = session.choice('sample_rate', legacy ? [24000] : sampleRates, 24000);
  const bitRate = session.integer('bit_rate', { min: 6, max: 510 }, 128) * 1000;
  const voice = session.requiredString('voice');
  session.flag('enable_tn');
  return {
    voice,
    mode,
    timbre,
    language: languageTypes[languageType],
    delivery: combine(readInstructions(session, model), {
      rate: session.number('speech_rate', { min: 0.5, max: 2 }, 1),
      pitch: session.number('pitch_rate', { min: 0.5, max: 2 }, 1),
      volume: session.number('volume', { min: 0, max: 100 }, 50) / 50,
    }),
    audio: { format, sampleRate, channels: 1, ...(format === 'opus' && { bitRate }) },
    shown: {
      ...values,
      voice,
      mode,
      language_type: languageType,
      response_format: format,
      sample_rate: sampleRate,
    },
  };
}
