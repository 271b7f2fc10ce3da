import type { Meter } from '../billing.ts';
import type { Exchange } from '../http/exchange.ts';
import { chooseLanguage, type Language } from '../language.ts';
import type { Prosody } from '../prosody.ts';
import { type Sentence, splitText } from '../sentences.ts';
import { concatenateAudio } from '../speech/audio-file.ts';
import type { AudioFormat, AudioSettings, Utterance } from '../speech/commands.ts';
import type { SpokenChunk } from '../speech/engine.ts';
import { convertEngineError } from '../triggered-errors.ts';
import { createUtterance, type VoiceTimbre } from '../voices.ts';

/** Synthesis settings, independent of the protocol. */
export interface SpeechSettings {
  timbre: VoiceTimbre;
  /** Undefined: detected by the script of each sentence. */
  language?: Language;
  prosody: Prosody;
  audio: AudioSettings;
}

/** A complete text to synthesize. */
export interface SpeechRequest extends SpeechSettings {
  /** The billed text, which is searched for triggers. */
  text: string;
  sentences: readonly Sentence[];
}

/** The result of a synthesis. */
export interface FinishedSpeech {
  meter: Meter;
  /** Start and end of each sentence in milliseconds. */
  timings: readonly { text: string; begin: number; end: number }[];
  /** Returns the audio as one file, empty if a trigger suppresses it. */
  audio: () => Buffer;
  /** Stores that file and returns its URL, empty if there is no audio. */
  url: (format?: AudioFormat) => string;
}

/** Formats synthesized speech for one protocol. Optional methods are for events that not every protocol has. */
export interface SpeechWriter {
  /** Returns the body of a response without streaming. */
  body(speech: FinishedSpeech): object;
  begin?(index: number, sentence: Sentence): object;
  audio(index: number, chunk: SpokenChunk, meter: Meter): object;
  end?(index: number, sentence: Sentence, meter: Meter): object;
  /** Returns the last event of a stream. */
  last(speech: FinishedSpeech): object;
}

// Silence in milliseconds at normal speed.
const sentencePauseMs = 200;
const finalPauseMs = 100;

export function createUtterances(request: SpeechRequest): Utterance[] {
  const { sentences } = request;
  return sentences.map((sentence, index) =>
    utteranceFromSentence(request, sentence, index === sentences.length - 1),
  );
}

/** Converts one sentence to engine parameters. `last` is true for the last one of the audio stream. */
export function utteranceFromSentence(
  settings: SpeechSettings,
  { spoken, pause }: Sentence,
  last: boolean,
): Utterance {
  const { timbre, language, prosody: delivery } = settings;
  const silence = last ? finalPauseMs : sentencePauseMs;
  const sentence = {
    text: spoken,
    language: chooseLanguage(spoken, language),
    pause: pause + silence / delivery.rate,
  };
  return createUtterance(timbre, sentence, delivery);
}

/** Synthesizes a short text to one file, for previews. */
export async function speakText(
  { services, signal }: Exchange,
  text: string,
  settings: SpeechSettings,
): Promise<Buffer> {
  let length = 0;
  const audio: Buffer[] = [];
  const sentences = splitText(text);
  try {
    const spoken = services.engine.speak(
      createUtterances({ ...settings, text, sentences }),
      settings.audio,
      signal,
    );
    for await (const { chunks, seconds } of spoken) {
      length += seconds;
      audio.push(...chunks.map(({ data }) => data));
    }
  } catch (error) {
    throw convertEngineError(error);
  }
  return concatenateAudio(audio, settings.audio, length);
}
