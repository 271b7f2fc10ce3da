import type { DrumName, InstrumentName } from './instruments/names.ts';
import type { LyricWord } from './lyrics.ts';

/** A note with its MIDI note number. Times are in seconds from the start of the song. */
export interface Note {
  note: number;
  start: number;
  seconds: number;
  /** Velocity, 0 to 1. */
  velocity: number;
}

/** A word with its note. */
export interface SungNote extends Note {
  word: LyricWord;
}

/** The notes of all instruments. */
export interface Score {
  /** Length including the decay of the last note. */
  seconds: number;
  parts: ReadonlyMap<InstrumentName, readonly Note[]>;
  drums: ReadonlyMap<DrumName, readonly Pick<Note, 'start' | 'velocity'>[]>;
  /** In order of time, in the octave above the tonic. */
  sungNotes: readonly SungNote[];
}
