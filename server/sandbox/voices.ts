import { type FamilyId, families, voiceSets } from '../../generated/catalogue.ts';
import { engineLanguages, type Language } from './language.ts';
import type { Prosody } from './prosody.ts';
import type { Utterance } from './speech/commands.ts';

/** Speech engine settings of one voice. */
export interface VoiceTimbre {
  /** Engine variant, the same in every language. */
  variant: string;
  /** Engine voice for English. */
  accent: string;
  /** Words per minute. */
  speed: number;
  /** Factor on the base pitch of the variant. */
  pitch: number;
  /** Factor on the pitch range. Default 1. */
  range?: number;
  /** Factor that normalizes the variant to about -23 dBFS at volume 50. */
  level: number;
  /** Engine variant for whispering. */
  whisper: 'whisper' | 'whisperf';
}

const female = { whisper: 'whisperf' } as const;
const male = { whisper: 'whisper' } as const;
const british = 'gmw/en';
const received = 'gmw/en-GB-x-rp';
const american = 'gmw/en-US';
const scottish = 'gmw/en-GB-scotland';

/** System voices of the catalog. A voice missing here uses `fallbackTimbre`. */
const timbres: Readonly<Record<string, VoiceTimbre>> = {
  Aria: { ...female, variant: 'f2', accent: british, speed: 172, pitch: 1, level: 0.76 },
  Bruno: { ...male, variant: 'm8', accent: american, speed: 165, pitch: 1, level: 1.3 },
  Clio: { ...female, variant: 'f3', accent: american, speed: 195, pitch: 1.05, level: 0.8 },
  Dario: { ...male, variant: 'm7', accent: scottish, speed: 172, pitch: 1.05, level: 0.73 },
  Mei: { ...female, variant: 'f4', accent: american, speed: 158, pitch: 1, level: 0.65 },
  Wei: { ...male, variant: 'm4', accent: american, speed: 178, pitch: 1, level: 0.8 },

  ember: { ...female, variant: 'f1', accent: received, speed: 166, pitch: 1, level: 0.7 },
  flint: { ...male, variant: 'm2', accent: american, speed: 184, pitch: 1.02, level: 0.95 },
  lan: { ...female, variant: 'f5', accent: american, speed: 168, pitch: 1, level: 0.8 },
  shan: { ...male, variant: 'm1', accent: american, speed: 170, pitch: 0.88, level: 0.9 },

  voxanna: { ...female, variant: 'linda', accent: american, speed: 172, pitch: 1, level: 0.7 },
  voxton: { ...male, variant: 'm5', accent: received, speed: 172, pitch: 1, level: 0.95 },
  voxling: { ...female, variant: 'Annie', accent: american, speed: 186, pitch: 1, level: 0.8 },
  voxhai: { ...male, variant: 'Mario', accent: american, speed: 170, pitch: 1.12, level: 0.72 },

  beta_female_calm: { ...female, variant: 'belinda', accent: received, speed: 165, pitch: 1, level: 0.75 },
  beta_male_deep: { ...male, variant: 'david', accent: american, speed: 168, pitch: 1, level: 0.95 },
  beta_female_bright: {
    ...female,
    variant: 'shelby',
    accent: american,
    speed: 188,
    pitch: 1.12,
    level: 0.75,
  },
  beta_male_mandarin: { ...male, variant: 'm6', accent: american, speed: 176, pitch: 1.06, level: 0.85 },
};

const fallbackTimbre: VoiceTimbre = {
  ...female,
  variant: 'f2',
  accent: american,
  speed: 175,
  pitch: 1,
  level: 0.76,
};

/** Returns the timbre of a system voice, or undefined if the family has no such voice. */
export function findSystemVoice(family: FamilyId, id: string): VoiceTimbre | undefined {
  const set = families[family].voiceSet;
  const known = set !== undefined && voiceSets[set].some((voice) => voice.id === id);
  return known ? (timbres[id] ?? fallbackTimbre) : undefined;
}

/** Converts one sentence to engine parameters. `pause` is in milliseconds. */
export function createUtterance(
  timbre: VoiceTimbre,
  { text, language, pause }: { text: string; language: Language; pause: number },
  prosody: Prosody,
): Utterance {
  const accent = language === 'en' ? timbre.accent : engineLanguages[language];
  return {
    text,
    voice: `${accent}+${prosody.whisper ? timbre.whisper : timbre.variant}`,
    wordsPerMinute: roundWithin(80, 450, timbre.speed * prosody.rate),
    // The engine's pitch is logarithmic: 50 more is an octave higher.
    pitch: roundWithin(0, 99, 50 + 50 * Math.log2(timbre.pitch * prosody.pitch)),
    range: roundWithin(0, 99, 50 * (timbre.range ?? 1) * prosody.range),
    gain: timbre.level * prosody.volume,
    pause,
  };
}

function roundWithin(low: number, high: number, value: number): number {
  return Math.max(low, Math.min(high, Math.round(value)));
}
