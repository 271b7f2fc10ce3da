/** Semitones of the seven degrees above the tonic. */
export const modes = {
  major: [0, 2, 4, 5, 7, 9, 11],
  minor: [0, 2, 3, 5, 7, 8, 10],
  dorian: [0, 2, 3, 5, 7, 9, 10],
  phrygian: [0, 1, 3, 5, 7, 8, 10],
  lydian: [0, 2, 4, 6, 7, 9, 11],
  mixolydian: [0, 2, 4, 5, 7, 9, 10],
} as const;

export type Mode = keyof typeof modes;

export const darkModes: readonly Mode[] = ['minor', 'dorian', 'phrygian'];

const tonics = ['C', 'C#', 'D', 'Eb', 'E', 'F', 'F#', 'G', 'Ab', 'A', 'Bb', 'B'] as const;

export interface Key {
  /** Semitones above C, 0 to 11. */
  tonic: number;
  mode: Mode;
}

/** A key as musicians write it, such as `F# minor`. */
export function keyName({ tonic, mode }: Key): string {
  return `${tonics[tonic] ?? 'C'} ${mode}`;
}

/** A key as ID3 writes it: at most three characters, `m` for the dark modes. */
export function keyCode({ tonic, mode }: Key): string {
  return `${tonics[tonic] ?? 'C'}${darkModes.includes(mode) ? 'm' : ''}`;
}

/** MIDI number of a degree of the scale, of which 0 is the tonic in the octave that begins at `octave` times 12. */
export function scaleNote({ tonic, mode }: Key, degree: number, octave: number): number {
  const step = ((degree % 7) + 7) % 7;
  return 12 * (octave + Math.floor(degree / 7)) + tonic + modes[mode][step as 0];
}

/** Moves a note by octaves into the twelve semitones that begin at `lowest`. */
export function foldNote(note: number, lowest: number): number {
  return lowest + ((((note - lowest) % 12) + 12) % 12);
}

/** Hertz of a MIDI number. */
export function frequencyOf(note: number): number {
  return 440 * 2 ** ((note - 69) / 12);
}
