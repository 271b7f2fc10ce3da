import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { CustomVoices } from '../custom-voices/custom-voices.ts';
import type { JsonObject } from '../http/json-body.ts';
import { languageTypes } from '../language.ts';
import { Parameters } from '../native/parameters.ts';
import type { SpeechSettings } from '../native/speech.ts';
import { readInstructions, readVoice } from '../native/voice-fields.ts';
import { combineProsody } from '../prosody.ts';
import type { AudioFormat } from '../speech/commands.ts';

const formats: readonly AudioFormat[] = ['pcm', 'wav', 'mp3', 'opus'];
const sampleRates = [8000, 16000, 24000, 48000];
const alpha3Only = ['speech_rate', 'pitch_rate', 'volume', 'bit_rate'];
const modes = ['server_commit', 'commit'] as const;

/** Options of a session. */
export interface SessionOptions extends SpeechSettings {
  voice: string;
  mode: (typeof modes)[number];
  /** The options in the format of the `session` object. */
  sessionObject: object;
}

/** Reads a complete session object. Throws `InvalidParameter` with the name of the field. */
export function readSessionOptions(
  values: JsonObject,
  model: CatalogueModel,
  voices: CustomVoices,
): SessionOptions {
  const session = new Parameters(values, 'session');
  const legacy = model.family === 'alpha-legacy';
  const unsupported = legacy ? alpha3Only.find((name) => session.has(name)) : undefined;
  if (unsupported !== undefined) throw session.invalid(unsupported, `is not supported by model ${model.id}`);

  const timbre = readVoice(voices, model, session, 'voice');
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
    prosody: combineProsody(readInstructions(session, model), {
      rate: session.number('speech_rate', { min: 0.5, max: 2 }, 1),
      pitch: session.number('pitch_rate', { min: 0.5, max: 2 }, 1),
      volume: session.number('volume', { min: 0, max: 100 }, 50) / 50,
    }),
    audio: { format, sampleRate, channels: 1, ...(format === 'opus' && { bitRate }) },
    sessionObject: {
      ...values,
      voice,
      mode,
      language_type: languageType,
      response_format: format,
      sample_rate: sampleRate,
    },
  };
}
