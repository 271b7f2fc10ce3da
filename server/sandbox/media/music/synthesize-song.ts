import { deriveSeed } from '../drawing/random.ts';
import { arrange } from './arrangement.ts';
import { noteFrequency } from './harmony.ts';
import { synthesizeStroke } from './instruments/drums.ts';
import { instruments } from './instruments/instruments.ts';
import type { DrumName, Family } from './instruments/names.ts';
import { families } from './instruments/names.ts';
import { songRate } from './instruments/tone.ts';
import { parseLyrics } from './lyrics.ts';
import { createTrack, measureWaveform, mixStem, normalizeTracks, type Track } from './mix.ts';
import type { Note, Score } from './score.ts';
import { synthesizeVocals } from './singer.ts';
import type { SongFacts, SongPlan } from './song-plan.ts';
import { findStyle } from './sound.ts';

const percussion: readonly DrumName[] = ['shaker', 'tambourine', 'conga', 'clap', 'timpani'];
/** Waveform segments per second. */
const waveformRate = 10;

export interface SynthesizedSong {
  /** Their sum is the song. */
  tracks: Track[];
  facts: SongFacts;
}

/** Synthesizes a song with one track per instrument. */
export async function synthesizeSong(plan: SongPlan): Promise<SynthesizedSong> {
  const score = arrange(plan);
  const { reverb } = findStyle(plan.sound);
  const length = Math.ceil(score.seconds * songRate);
  const voice = new Float32Array(length);
  const words = await synthesizeVocals(score.sungNotes, voice, { ...plan, voice: plan.sound.voice });
  const tracks: Track[] = [];
  if (words.length > 0)
    tracks.push(createTrack(voice, { family: 'Vocals', level: -16, pan: 0, reverb: 0.5 * reverb }));
  for (const [name, notes] of score.parts) {
    const { family, play, level, pan, drive } = instruments[name];
    const samples = new Float32Array(length);
    for (const { note, start, seconds, velocity } of notes)
      play(samples, Math.round(start * songRate), { frequency: noteFrequency(note), seconds, velocity });
    const audible = family === 'Bass' ? 0 : reverb;
    tracks.push(createTrack(samples, { family, level, pan, reverb: audible, ...(drive && { drive }) }));
  }
  tracks.push(...synthesizeDrums(score, plan, length));
  normalizeTracks(tracks);
  return { tracks, facts: createFacts(plan, tracks, words, length) };
}

function synthesizeDrums({ drums }: Score, { sound, seed }: SongPlan, length: number): Track[] {
  const tracks: Track[] = [];
  for (const [family, level, pan] of [
    ['Drums', -16, 0],
    ['Percussion', -24, 0.4],
  ] as const) {
    const selected = Array.from(drums).filter(
      ([name]) => percussion.includes(name) === (family === 'Percussion'),
    );
    if (selected.length === 0) continue;
    const samples = new Float32Array(length);
    for (const [name, strokes] of selected)
      addStrokes(samples, synthesizeStroke(name, deriveSeed(name, seed)), strokes);
    tracks.push(createTrack(samples, { family, level, pan, reverb: 0.25 * findStyle(sound).reverb }));
  }
  return tracks;
}

function addStrokes(
  into: Float32Array,
  stroke: Float32Array,
  strokes: readonly Pick<Note, 'start' | 'velocity'>[],
): void {
  for (const { start, velocity } of strokes) {
    const at = Math.round(start * songRate);
    const end = Math.min(stroke.length, into.length - at);
    for (let index = 0; index < end; index++)
      into[at + index] = (into[at + index] ?? 0) + velocity * (stroke[index] ?? 0);
  }
}

function createFacts(
  { lyrics }: SongPlan,
  tracks: readonly Track[],
  words: SongFacts['words'],
  length: number,
): SongFacts {
  const seconds = length / songRate;
  const audibleFamilies = new Set<Family>(tracks.map(({ family }) => family));
  const lyricWords = parseLyrics(lyrics).flatMap(({ lines }) => lines.flatMap((line) => line.words));
  const letters = (all: readonly { text: string }[]) => all.reduce((sum, { text }) => sum + text.length, 0);
  return {
    seconds,
    words,
    unsung: lyricWords.length === 0 ? 0 : 1 - letters(words) / letters(lyricWords),
    waveform: measureWaveform(mixStem(tracks, undefined), Math.ceil(seconds * waveformRate)),
    families: families.filter((family) => audibleFamilies.has(family)),
  };
}
