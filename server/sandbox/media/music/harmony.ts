/** Semitones of the seven scale degrees above the tonic. */
const modes = {
  major: [0, 2, 4, 5, 7, 9, 11],
  minor: [0, 2, 3, 5, 7, 8, 10],
  dorian: [0, 2, 3, 5, 7, 9, 10],
  phrygian: [0, 1, 3, 5, 7, 8, 10],
  lydian: [0, 2, 4, 6, 7, 9, 11],
  mixolydian: [0, 2, 4, 5, 7, 9, 10],
} as const;

export type Mode = keyof typeof modes;

export const minorModes: readonly Mode[] = ['minor', 'dorian', 'phrygian'];

const tonics = ['C', 'C#', 'D', 'Eb', 'E', 'F', 'F#', 'G', 'Ab', 'A', 'Bb', 'B'] as const;

export interface Key {
  /** Semitones above C, 0 to 11. */
  tonic: number;
  mode: Mode;
}

/** Formats a key for ID3: at most three characters, `m` for minor modes. */
export function formatKeyForId3({ tonic, mode }: Key): string {
  return `${tonics[tonic] ?? 'C'}${minorModes.includes(mode) ? 'm' : ''}`;
}

/**
 * Returns the MIDI note number of a scale degree. Degree 0 is the tonic in the octave that starts at `octave` times 12.
 */
export function scaleNote({ tonic, mode }: Key, degree: number, octave: number): number {
  const step = ((degree % 7) + 7) % 7;
  return 12 * (octave + Math.floor(degree / 7)) + tonic + modes[mode][step as 0];
}

/** Transposes a note by octaves into the twelve semitones that start at `lowest`. */
export function foldNote(note: number, lowest: number): number {
  return lowest + ((((note - lowest) % 12) + 12) % 12);
}

/** Converts a MIDI note number to Hz. */
export function noteFrequency(note: number): number {
  return 440 * 2 ** ((note - 69) / 12);
}
