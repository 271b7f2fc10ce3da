import type { Meter } from '../billing.ts';
import type { Delivery } from '../delivery.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Language, spokenLanguage } from '../language.ts';
import { readText, type Sentence } from '../reading.ts';
import { translateEngineError } from '../refusals.ts';
import { joinAudio } from '../speech/audio-file.ts';
import type { AudioFormat, AudioSettings, Utterance } from '../speech/commands.ts';
import type { SpokenChunk } from '../speech/engine.ts';
import { utteranceFor, type VoiceTimbre } from '../voices.ts';

/** How a request wants to be spoken, whatever its protocol. */
export interface SpeechSettings {
  timbre: VoiceTimbre;
  /** Undefined: by the script of each sentence. */
  language?: Language;
  delivery: Delivery;
  audio: AudioSettings;
}

/** A whole text to be spoken. */
export interface SpeechRequest extends SpeechSettings {
  /** The text as it is billed; triggers are looked for in it. */
  text: string;
  sentences: readonly Sentence[];
}

/** What has been spoken at the end. */
export interface FinishedSpeech {
  meter: Meter;
  /** Begin and end of each sentence in milliseconds. */
  timings: readonly { text: string; begin: number; end: number }[];
  /** The audio as one file; empty when a trigger asks for none. */
  audio: () => Buffer;
  /** Stores that file and gives its URL; empty when there is none. */
  url: (format?: AudioFormat) => string;
}

/** How one protocol writes speech down. Events that it does not know are left out. */
export interface SpeechWriter {
  /** The body of an answer without a stream. */
  whole(speech: FinishedSpeech): object;
  begin?(index: number, sentence: Sentence): object;
  audio(index: number, chunk: SpokenChunk, meter: Meter): object;
  end?(index: number, sentence: Sentence, meter: Meter): object;
  /** The last event of a stream. */
  last(speech: FinishedSpeech): object;
}

// Milliseconds of silence at normal speed.
const betweenSentences = 200;
const afterLast = 100;

export function utterancesOf(request: SpeechRequest): Utterance[] {
  const { sentences } = request;
  return sentences.map((sentence, index) => utteranceOf(request, sentence, index === sentences.length - 1));
}

/** One sentence in the engine's terms; `last` in its audio stream. */
export function utteranceOf(settings: SpeechSettings, { spoken, pause }: Sentence, last: boolean): Utterance {
  const { timbre, language, delivery } = settings;
  const silence = last ? afterLast : betweenSentences;
  const sentence = {
    text: spoken,
    language: spokenLanguage(spoken, language),
    pause: pause + silence / delivery.rate,
  };
  return utteranceFor(timbre, sentence, delivery);
}

/** Speaks a short text as one file, for previews. */
export async function speakText(
  { services, signal }: Exchange,
  text: string,
  settings: SpeechSettings,
): Promise<Buffer> {
  let length = 0;
  const pieces: Buffer[] = [];
  const sentences = readText(text);
  try {
    const spoken = services.engine.speak(
      utterancesOf({ ...settings, text, sentences }),
      settings.audio,
      signal,
    );
    for await (const { chunks, seconds } of spoken) {
      length += seconds;
      pieces.push(...chunks.map(({ data }) => data));
    }
  } catch (error) {
    throw translateEngineError(error);
  }
  return joinAudio(pieces, settings.audio, length);
}
