import type { VoiceTimbre } from '../voices.ts';

/** An engine variant for custom voices, with values measured at 175 words per minute. */
interface BaseVariant {
  variant: string;
  female: boolean;
  /** Median in Hz at the lowest, middle and highest pitch of the engine. */
  fundamentals: readonly [number, number, number];
  /** In Hz, as `analyzeVoice` measures it. */
  brightness: number;
  /** Root mean square at gain 1. */
  level: number;
}

const bases: readonly BaseVariant[] = [
  { variant: 'm8', female: false, fundamentals: [65, 87, 141], brightness: 344, level: 0.062 },
  { variant: 'edward', female: false, fundamentals: [69, 104, 171], brightness: 525, level: 0.12 },
  { variant: 'm7', female: false, fundamentals: [76, 108, 172], brightness: 590, level: 0.114 },
  { variant: 'm6', female: false, fundamentals: [69, 102, 173], brightness: 720, level: 0.094 },
  { variant: 'm5', female: false, fundamentals: [70, 104, 173], brightness: 825, level: 0.087 },
  { variant: 'm2', female: false, fundamentals: [66, 102, 178], brightness: 862, level: 0.079 },
  { variant: 'steph', female: true, fundamentals: [107, 186, 338], brightness: 326, level: 0.11 },
  { variant: 'f2', female: true, fundamentals: [133, 198, 323], brightness: 771, level: 0.115 },
  { variant: 'f1', female: true, fundamentals: [119, 182, 305], brightness: 840, level: 0.11 },
  { variant: 'belinda', female: true, fundamentals: [136, 230, 411], brightness: 865, level: 0.133 },
  { variant: 'linda', female: true, fundamentals: [135, 229, 409], brightness: 993, level: 0.128 },
  { variant: 'shelby', female: true, fundamentals: [142, 185, 270], brightness: 1090, level: 0.103 },
];

/** Level of all system voices, about -23 dBFS. */
const commonLevel = 0.07;
const wordsPerMinute = 172;
/** Fundamental in Hz from which a voice is female unless specified otherwise. */
const minFemaleHz = 150;

/** Target properties of a custom voice. */
interface VoiceTarget {
  /** Median in Hz. */
  fundamental: number;
  /** In Hz, as `analyzeVoice` measures it. */
  brightness: number;
  /** Undefined: determined by the fundamental. */
  female?: boolean;
  /** Factors with a default of 1. */
  level?: number;
  speed?: number;
  range?: number;
  whisper?: boolean;
}

/** Returns the engine variant and settings closest to the target. */
export function fitTimbre(target: VoiceTarget): VoiceTimbre {
  const female = target.female ?? target.fundamental >= minFemaleHz;
  const [base] = bases
    .filter((candidate) => candidate.female === female)
    .toSorted((first, second) => distance(first, target) - distance(second, target));
  if (!base) throw new Error('There is no base variant for the voice');
  const whisper = female ? 'whisperf' : 'whisper';
  return {
    variant: target.whisper ? whisper : base.variant,
    accent: 'gmw/en-US',
    speed: wordsPerMinute * (target.speed ?? 1),
    pitch: pitchFactor(base, target.fundamental),
    range: target.range ?? 1,
    level: (commonLevel / base.level) * (target.level ?? 1),
    whisper,
  };
}

function distance({ fundamentals, brightness }: BaseVariant, target: VoiceTarget): number {
  const [lowest, own, highest] = fundamentals;
  const reached = Math.max(lowest, Math.min(highest, target.fundamental));
  const unreachable = Math.abs(Math.log2(target.fundamental / reached));
  // A variant sounds less natural far from its default pitch, so the pitch has a small weight even within its range.
  const strain = Math.abs(Math.log2(target.fundamental / own));
  return 10 * unreachable + Math.abs(Math.log2(target.brightness / brightness)) + 0.3 * strain;
}

/** Returns the pitch factor of a timbre for a fundamental. 2^±1 are the limits of the engine's pitch parameter. */
function pitchFactor({ fundamentals: [lowest, own, highest] }: BaseVariant, fundamental: number): number {
  const end = fundamental < own ? lowest : highest;
  const share = Math.log(fundamental / own) / Math.abs(Math.log(end / own));
  return 2 ** Math.max(-1, Math.min(1, share));
}
