import type { Key } from './harmony.ts';
import type { Family, InstrumentName } from './instruments/names.ts';

/** What a song sounds like, whatever is sung; a continuation takes it over. */
export interface Sound extends Key {
  /** Name of its style. */
  style: string;
  /** Beats a minute. */
  tempo: number;
  /** Instead of the style's own. */
  lead?: InstrumentName;
  /** False when drums are unwanted. */
  drums: boolean;
  voice: VoiceName;
}

export type VoiceName = 'female' | 'male';

/** All that decides a song: from the same plan always the same one. */
export interface SongPlan {
  sound: Sound;
  title: string;
  /** Lines to sing under section marks in brackets; empty for an instrumental. */
  lyrics: string;
  /** About how long it is; up to a quarter longer with many lines to sing. */
  seconds: number;
  seed: number;
  /** 0 keeps the melody to the chords, 1 lets it leap. */
  weirdness: number;
  /** Seconds of another song after which this one goes on. */
  startAt: number;
  /** Package of the speech engine; without it nothing is sung. */
  speechEngine: string;
}

/** A word that is sung, and when; seconds from the start. */
export interface SungWord {
  text: string;
  /** Its part of the lyrics, with what stands before and after it. */
  written: string;
  start: number;
  end: number;
}

/** What is known of a song when it is made. */
export interface SongFacts {
  seconds: number;
  words: SungWord[];
  /** Of the letters of the lyrics, the share that is not sung. */
  unsung: number;
  /** Loudest samples of equally long pieces, 0 to 1. */
  waveform: number[];
  /** Its tracks that can be heard. */
  families: Family[];
}
