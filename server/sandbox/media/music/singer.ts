import libsamplerate from '@alexanderolsen/libsamplerate-js';
import { chooseLanguage, engineLanguages } from '../../language.ts';
import { EngineMissing, type Espeak, engineSampleRate, loadEspeak } from '../../speech/espeak.ts';
import { frequencyOf } from './harmony.ts';
import { songRate } from './instruments/tone.ts';
import { type SpokenWord, singWord } from './psola.ts';
import type { SungNote } from './score.ts';
import type { SungWord, VoiceName } from './song-plan.ts';

interface Voice {
  /** The engine's variant. */
  variant: string;
  /** Hertz at which it speaks here. */
  frequency: number;
  /** MIDI number; it sings about an octave from there. */
  lowest: number;
}

const voices: Readonly<Record<VoiceName, Voice>> = {
  female: { variant: 'f2', frequency: 171, lowest: 53 },
  male: { variant: 'm3', frequency: 91, lowest: 43 },
};

/** Faster than anybody sings, since the engine takes its time for every second: the notes stretch it. */
const wordsPerMinute = 240;
/** Samples below are silence. */
const threshold = 0.01;
const maxKept = 400;
/** Nobody sings more of one word. */
const maxLetters = 24;

/** By their packages. */
const engines = new Map<string, Promise<Espeak>>();
let resampler: ReturnType<typeof libsamplerate.create> | undefined;
/** Words that were spoken lately; the clips of a task sing the same ones. */
const spoken = new Map<string, SpokenWord | undefined>();

/** Sings the notes into mono samples and returns the words with their times; none without the speech engine. */
export async function sing(
  notes: readonly SungNote[],
  into: Float32Array,
  { voice, speechEngine }: { voice: VoiceName; speechEngine: string },
): Promise<SungWord[]> {
  const { lowest } = voices[voice];
  const sung: SungWord[] = [];
  let free = 0;
  try {
    for (const note of notes) {
      const word = await speakWord(shorten(note.word.text), voice, speechEngine);
      if (!word) continue;
      // Two words at once are not understood.
      const start = Math.max(note.start, free);
      const seconds = Math.max(0.09, note.start + note.seconds * 0.96 - start);
      const at = Math.round(start * songRate);
      if (at >= into.length) break;
      singWord(into, at, word, { frequency: frequencyOf(foldRange(note.note, lowest)), seconds });
      free = start + seconds;
      const { text, written } = note.word;
      sung.push({ text, written, start, end: free });
    }
  } catch (error) {
    if (!(error instanceof EngineMissing)) throw error;
  }
  return sung;
}

/** Every digit is spoken as words of its own, so few of them are. */
function shorten(word: string): string {
  return Array.from(word.replace(/(\d{4})\d+/g, '$1'))
    .slice(0, maxLetters)
    .join('');
}

/** Moves a note by octaves into the range of a voice. */
function foldRange(note: number, lowest: number): number {
  let folded = note;
  while (folded > lowest + 14) folded -= 12;
  while (folded < lowest - 2) folded += 12;
  return folded;
}

/** Undefined when the engine has no sound for the word. Throws `EngineMissing`. */
async function speakWord(text: string, voice: VoiceName, module: string): Promise<SpokenWord | undefined> {
  const name = `${module} ${voice} ${text.toLowerCase()}`;
  if (spoken.has(name)) return spoken.get(name);
  const word = await voiceWord(text, voices[voice], module);
  spoken.set(name, word);
  const [oldest = ''] = spoken.keys();
  if (spoken.size > maxKept) spoken.delete(oldest);
  return word;
}

async function voiceWord(text: string, voice: Voice, module: string): Promise<SpokenWord | undefined> {
  const language = chooseLanguage(text, undefined);
  const accent = language === 'en' ? 'gmw/en-US' : engineLanguages[language];
  const engine = engines.get(module) ?? loadEspeak(module);
  engines.set(module, engine);
  let samples: Float32Array;
  try {
    // Neither pitch nor range: a monotone is what the periods are cut from.
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
    // A trap leaves the engine in an unknown state: the next word gets a new one.
    engines.delete(module);
    if (error instanceof EngineMissing) throw error;
    return undefined;
  }
  const heard = trimmed(samples);
  if (heard.length === 0) return undefined;
  resampler ??= libsamplerate.create(1, engineSampleRate, songRate);
  const level = Math.sqrt(heard.reduce((sum, sample) => sum + sample * sample, 0) / heard.length);
  const even = heard.map((sample) => (0.2 * sample) / level);
  return { samples: (await resampler).simple(even), frequency: voice.frequency };
}

/** Without the silence at both ends. */
function trimmed(samples: Float32Array): Float32Array {
  const first = samples.findIndex((sample) => Math.abs(sample) > threshold);
  const last = samples.findLastIndex((sample) => Math.abs(sample) > threshold);
  return first < 0 ? new Float32Array() : samples.slice(first, last + 1);
}
