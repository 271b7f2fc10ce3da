import type { VoiceTimbre } from '../voices.ts';

/** A variant of the engine that custom voices are made from, as measured at 175 words a minute. */
interface Base {
  variant: string;
  female: boolean;
  /** Median in Hz with the engine's pitch at its lowest, in the middle and at its highest. */
  fundamentals: readonly [number, number, number];
  /** In Hz, as `analyseVoice` measures it. */
  brightness: number;
  /** Root mean square at gain 1. */
  level: number;
}

const bases: readonly Base[] = [
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

/** The level of every system voice, about -23 dBFS. */
const commonLevel = 0.07;
const wordsPerMinute = 172;
/** Below it a voice counts as male unless the wish says otherwise, in Hz. */
const femaleFrom = 150;

/** How a custom voice is to sound. */
interface WishedVoice {
  /** Median in Hz. */
  fundamental: number;
  /** In Hz, as `analyseVoice` measures it. */
  brightness: number;
  /** Undefined: by the fundamental. */
  female?: boolean;
  /** Factors on what is usual; 1 when left out. */
  level?: number;
  speed?: number;
  range?: number;
  whisper?: boolean;
}

/** The engine's variant and settings that come nearest. */
export function fitTimbre(wish: WishedVoice): VoiceTimbre {
  const female = wish.female ?? wish.fundamental >= femaleFrom;
  const [base] = bases
    .filter((candidate) => candidate.female === female)
    .toSorted((first, second) => distance(first, wish) - distance(second, wish));
  if (!base) throw new Error('There is no base to make a voice from');
  const whisper = female ? 'whisperf' : 'whisper';
  return {
    variant: wish.whisper ? whisper : base.variant,
    accent: 'gmw/en-US',
    speed: wordsPerMinute * (wish.speed ?? 1),
    pitch: pitchFactor(base, wish.fundamental),
    range: wish.range ?? 1,
    level: (commonLevel / base.level) * (wish.level ?? 1),
    whisper,
  };
}

function distance({ fundamentals, brightness }: Base, wish: WishedVoice): number {
  const [lowest, own, highest] = fundamentals;
  const reached = Math.max(lowest, Math.min(highest, wish.fundamental));
  const unreachable = Math.abs(Math.log2(wish.fundamental / reached));
  // Far from its own pitch a variant sounds less like itself, so pitch weighs a little even where it is reached.
  const strain = Math.abs(Math.log2(wish.fundamental / own));
  return 10 * unreachable + Math.abs(Math.log2(wish.brightness / brightness)) + 0.3 * strain;
}

/** The factor of a timbre that gives the fundamental: 2^±1 are the ends of the engine's dial. */
function pitchFactor({ fundamentals: [lowest, own, highest] }: Base, fundamental: number): number {
  const end = fundamental < own ? lowest : highest;
  const way = Math.log(fundamental / own) / Math.abs(Math.log(end / own));
  return 2 ** Math.max(-1, Math.min(1, way));
}
