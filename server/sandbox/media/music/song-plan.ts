import type { Key } from './harmony.ts';
import type { Family, InstrumentName } from './instruments/names.ts';

/** The sound of a song, independent of its lyrics. A continuation has the same sound as its source. */
export interface Sound extends Key {
  /** Name of the style. */
  style: string;
  /** Beats per minute. */
  tempo: number;
  /** Lead instrument that replaces the default of the style. */
  lead?: InstrumentName;
  /** False for a song without drums. */
  drums: boolean;
  voice: VoiceName;
}

export type VoiceName = 'female' | 'male';

/** All inputs of a song. Stored on disk. The same plan always produces the same song. */
export interface SongPlan {
  sound: Sound;
  title: string;
  /** Lines below section marks in brackets. Empty for an instrumental. */
  lyrics: string;
  /** Approximate length. Songs with many lyrics are up to a quarter longer. */
  seconds: number;
  seed: number;
  /** 0 to 1. Higher values add larger intervals to the melody. */
  weirdness: number;
  /** Position in the source in seconds, if this song continues another one. */
  startAt: number;
  /** Package of the speech engine. Without it, the song has no vocals. */
  speechEngine: string;
}

/** A sung word with its times in seconds from the start. */
export interface SungWord {
  text: string;
  /** Its part of the lyrics, with the text before and after it. */
  written: string;
  start: number;
  end: number;
}

/** Properties of a rendered song. Stored on disk. */
export interface SongFacts {
  seconds: number;
  words: SungWord[];
  /** Share of the letters of the lyrics that is not sung. */
  unsung: number;
  /** Peaks of segments of equal length, 0 to 1. */
  waveform: number[];
  /** Families of the tracks that are not silent. */
  families: Family[];
}
