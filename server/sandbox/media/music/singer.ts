import libsamplerate from '@alexanderolsen/libsamplerate-js';
import { chooseLanguage, engineLanguages } from '../../language.ts';
import { EngineMissing, type Espeak, engineSampleRate, loadEspeak } from '../../speech/espeak.ts';
import { noteFrequency } from './harmony.ts';
import { songRate } from './instruments/tone.ts';
import { addSungWord, type SpokenWord } from './psola.ts';
import type { SungNote } from './score.ts';
import type { SungWord, VoiceName } from './song-plan.ts';

interface Voice {
  /** Engine variant. */
  variant: string;
  /** Frequency in Hz at which the engine speaks. */
  frequency: number;
  /** Lowest MIDI note number of its range of about an octave. */
  lowest: number;
}

const voices: Readonly<Record<VoiceName, Voice>> = {
  female: { variant: 'f2', frequency: 171, lowest: 53 },
  male: { variant: 'm3', frequency: 91, lowest: 43 },
};

/** Faster than singing, because the engine's time per word depends on its length. The notes stretch the words. */
const wordsPerMinute = 240;
/** Quieter samples are silence. */
const threshold = 0.01;
const maxCachedWords = 400;
/** Maximum characters per word. */
const maxLetters = 24;

/** Engines by package name. */
const engines = new Map<string, Promise<Espeak>>();
let resampler: ReturnType<typeof libsamplerate.create> | undefined;
/** Cache of recently spoken words, because the clips of a task have the same lyrics. */
const wordCache = new Map<string, SpokenWord | undefined>();

/**
 * Adds the sung notes to mono samples and returns the words with their times. Returns no words without the speech
 * engine.
 */
export async function synthesizeVocals(
  notes: readonly SungNote[],
  into: Float32Array,
  { voice, speechEngine }: { voice: VoiceName; speechEngine: string },
): Promise<SungWord[]> {
  const { lowest } = voices[voice];
  const sung: SungWord[] = [];
  let nextStart = 0;
  try {
    for (const note of notes) {
      const word = await speakWord(limitWord(note.word.text), voice, speechEngine);
      if (!word) continue;
      // Overlapping words would be unintelligible.
      const start = Math.max(note.start, nextStart);
      const seconds = Math.max(0.09, note.start + note.seconds * 0.96 - start);
      const at = Math.round(start * songRate);
      if (at >= into.length) break;
      addSungWord(into, at, word, { frequency: noteFrequency(foldRange(note.note, lowest)), seconds });
      nextStart = start + seconds;
      const { text, written } = note.word;
      sung.push({ text, written, start, end: nextStart });
    }
  } catch (error) {
    if (!(error instanceof EngineMissing)) throw error;
  }
  return sung;
}

/** Limits the number of digits, because the engine speaks each one as a word. */
function limitWord(word: string): string {
  return Array.from(word.replace(/(\d{4})\d+/g, '$1'))
    .slice(0, maxLetters)
    .join('');
}

/** Transposes a note by octaves into the range of a voice. */
function foldRange(note: number, lowest: number): number {
  let folded = note;
  while (folded > lowest + 14) folded -= 12;
  while (folded < lowest - 2) folded += 12;
  return folded;
}

/** Returns undefined if the engine produces no sound for the word. Throws `EngineMissing`. */
async function speakWord(text: string, voice: VoiceName, module: string): Promise<SpokenWord | undefined> {
  const name = `${module} ${voice} ${text.toLowerCase()}`;
  if (wordCache.has(name)) return wordCache.get(name);
  const word = await synthesizeWord(text, voices[voice], module);
  wordCache.set(name, word);
  const [oldest = ''] = wordCache.keys();
  if (wordCache.size > maxCachedWords) wordCache.delete(oldest);
  return word;
}

async function synthesizeWord(text: string, voice: Voice, module: string): Promise<SpokenWord | undefined> {
  const language = chooseLanguage(text, undefined);
  const accent = language === 'en' ? 'gmw/en-US' : engineLanguages[language];
  const engine = engines.get(module) ?? loadEspeak(module);
  engines.set(module, engine);
  let samples: Float32Array;
  try {
    // No pitch range, because PSOLA requires a constant pitch.
    ({ samples } = (await engine).speak({
      text,
      voice: `${accent}+${voice.variant}`,
      wordsPerMinute,
      pitch: 50,
      range: 0,
      gain: 1,
      pause: 0,
    }));
  } catch (error) {
    // After a WebAssembly trap, the state of the engine is undefined, so the next word uses a new instance.
    engines.delete(module);
    if (error instanceof EngineMissing) throw error;
    return undefined;
  }
  const trimmedSamples = trimSilence(samples);
  if (trimmedSamples.length === 0) return undefined;
  resampler ??= libsamplerate.create(1, engineSampleRate, songRate);
  const level = Math.sqrt(
    trimmedSamples.reduce((sum, sample) => sum + sample * sample, 0) / trimmedSamples.length,
  );
  const normalized = trimmedSamples.map((sample) => (0.2 * sample) / level);
  return { samples: (await resampler).simple(normalized), frequency: voice.frequency };
}

/** Removes silence at both ends. */
function trimSilence(samples: Float32Array): Float32Array {
  const first = samples.findIndex((sample) => Math.abs(sample) > threshold);
  const last = samples.findLastIndex((sample) => Math.abs(sample) > threshold);
  return first < 0 ? new Float32Array() : samples.slice(first, last + 1);
}
