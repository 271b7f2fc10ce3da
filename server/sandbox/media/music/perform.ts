import { seedOf } from '../drawing/chance.ts';
import { arrange } from './arrangement.ts';
import { frequencyOf } from './harmony.ts';
import { strike } from './instruments/drums.ts';
import { instruments } from './instruments/instruments.ts';
import type { DrumName, Family } from './instruments/names.ts';
import { families } from './instruments/names.ts';
import { songRate } from './instruments/tone.ts';
import { readLyrics } from './lyric-lines.ts';
import { balance, placeTrack, stemOf, type Track, waveformOf } from './mix.ts';
import type { Note, Score } from './score.ts';
import { sing } from './singer.ts';
import type { SongFacts, SongPlan } from './song-plan.ts';
import { styleOf } from './sound.ts';

const percussion: readonly DrumName[] = ['shaker', 'tambourine', 'conga', 'clap', 'timpani'];
/** Pieces of the waveform a second. */
const waveformRate = 10;

export interface Performance {
  /** They add up to the song. */
  tracks: Track[];
  facts: SongFacts;
}

/** Plays and sings a song, each player on a track of its own. */
export async function perform(plan: SongPlan): Promise<Performance> {
  const score = arrange(plan);
  const { space } = styleOf(plan.sound);
  const length = Math.ceil(score.seconds * songRate);
  const voice = new Float32Array(length);
  const words = await sing(score.singing, voice, { ...plan, voice: plan.sound.voice });
  const tracks: Track[] = [];
  if (words.length > 0)
    tracks.push(placeTrack(voice, { family: 'Vocals', level: -16, pan: 0, space: 0.5 * space }));
  for (const [name, notes] of score.parts) {
    const { family, play, level, pan, drive } = instruments[name];
    const samples = new Float32Array(length);
    for (const { note, start, seconds, velocity } of notes)
      play(samples, Math.round(start * songRate), { frequency: frequencyOf(note), seconds, velocity });
    const heard = family === 'Bass' ? 0 : space;
    tracks.push(placeTrack(samples, { family, level, pan, space: heard, ...(drive && { drive }) }));
  }
  tracks.push(...playDrums(score, plan, length));
  balance(tracks);
  return { tracks, facts: factsOf(plan, tracks, words, length) };
}

function playDrums({ drums }: Score, { sound, seed }: SongPlan, length: number): Track[] {
  const tracks: Track[] = [];
  for (const [family, level, pan] of [
    ['Drums', -16, 0],
    ['Percussion', -24, 0.4],
  ] as const) {
    const struck = Array.from(drums).filter(
      ([name]) => percussion.includes(name) === (family === 'Percussion'),
    );
    if (struck.length === 0) continue;
    const samples = new Float32Array(length);
    for (const [name, strokes] of struck) addStrokes(samples, strike(name, seedOf(name, seed)), strokes);
    tracks.push(placeTrack(samples, { family, level, pan, space: 0.25 * styleOf(sound).space }));
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

function factsOf(
  { lyrics }: SongPlan,
  tracks: readonly Track[],
  words: SongFacts['words'],
  length: number,
): SongFacts {
  const seconds = length / songRate;
  const heard = new Set<Family>(tracks.map(({ family }) => family));
  const wanted = readLyrics(lyrics).flatMap(({ lines }) => lines.flatMap((line) => line.words));
  const letters = (all: readonly { text: string }[]) => all.reduce((sum, { text }) => sum + text.length, 0);
  return {
    seconds,
    words,
    unsung: wanted.length === 0 ? 0 : 1 - letters(words) / letters(wanted),
    waveform: waveformOf(stemOf(tracks, undefined), Math.ceil(seconds * waveformRate)),
    families: families.filter((family) => heard.has(family)),
  };
}
