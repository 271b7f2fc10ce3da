/** Tracks of a song by instrument family, in the order of the stems in a response. */
export const families = [
  'Vocals',
  'Backing Vocals',
  'Drums',
  'Bass',
  'Guitar',
  'Keyboard',
  'Percussion',
  'Strings',
  'Synth',
  'FX',
  'Brass',
  'Woodwinds',
] as const;

export type Family = (typeof families)[number];

/** A track, or all tracks except the vocals. */
export type StemName = Family | 'Instrumental';

export type InstrumentName =
  | 'steel guitar'
  | 'nylon guitar'
  | 'overdriven guitar'
  | 'distorted guitar'
  | 'electric guitar'
  | 'screaming guitar'
  | 'banjo'
  | 'harp'
  | 'upright bass'
  | 'electric bass'
  | 'synth bass'
  | 'sub bass'
  | 'piano'
  | 'electric piano'
  | 'organ'
  | 'music box'
  | 'bell'
  | 'strings'
  | 'violin'
  | 'cello'
  | 'flute'
  | 'saxophone'
  | 'harmonica'
  | 'trumpet'
  | 'horn'
  | 'synth lead'
  | 'synth pluck'
  | 'synth pad';

export type DrumName =
  | 'kick'
  | 'snare'
  | 'hat'
  | 'openHat'
  | 'ride'
  | 'clap'
  | 'tom'
  | 'shaker'
  | 'tambourine'
  | 'conga'
  | 'timpani';
