import type { DrumName, InstrumentName } from './instruments/names.ts';
import type { LyricWord } from './lyric-lines.ts';

/** A note as MIDI number; times in seconds from the start of the song. */
export interface Note {
  note: number;
  start: number;
  seconds: number;
  /** How hard, 0 to 1. */
  velocity: number;
}

/** A word on its note. */
export interface SungNote extends Note {
  word: LyricWord;
}

/** What each player has to play. */
export interface Score {
  /** Until the last tone has died away. */
  seconds: number;
  parts: ReadonlyMap<InstrumentName, readonly Note[]>;
  drums: ReadonlyMap<DrumName, readonly Pick<Note, 'start' | 'velocity'>[]>;
  /** In the order in which they are sung, in the octave above the tonic. */
  singing: readonly SungNote[];
}
