import { createHash } from 'node:crypto';
import { prosodyFromInstructions } from '../prosody.ts';
import type { VoiceTimbre } from '../voices.ts';
import { fitTimbre } from './timbre-fitting.ts';

const female = /\b(female|woman|women|girl|lady|mother|grandmother|queen|actress|she|her)\b|女/i;
const male = /\b(male|man|men|boy|gentleman|father|grandfather|king|actor|he|his)\b|男/i;

interface Trait {
  /** Factors with a default of 1. */
  fundamental?: number;
  brightness?: number;
  speed?: number;
}

/** Keywords of a description, in addition to those of the prosody, in English and Chinese. Each one counts once. */
const traits: readonly [RegExp, Trait][] = [
  [/\b(child|kid|boy|girl|toddler)|童|孩/i, { fundamental: 1.35, brightness: 1.15, speed: 1.05 }],
  [/\b(young|youth|teen)|年轻|少/i, { fundamental: 1.1, brightness: 1.05, speed: 1.05 }],
  [/\b((?<!years?[ -])old|elder|aged|senior|grand)|老/i, { fundamental: 0.9, brightness: 0.85, speed: 0.85 }],
  [/\b(bright|crisp|clear|sharp|silver)|亮|清/i, { brightness: 1.5 }],
  [/\b(warm|dark|mellow|husky|velvet|raspy|hoarse)|暖|浑厚|沙哑/i, { brightness: 0.55 }],
];

/**
 * Derives a timbre from a description. The result is deterministic: a hash of the description determines everything
 * that it leaves open, so two descriptions rarely result in the same voice.
 */
export function createDesignedTimbre(description: string): VoiceTimbre {
  const hash = createHash('sha256').update(description.trim().toLowerCase()).digest();
  /** Returns a factor within ±`spread` that the hash determines. */
  const vary = (index: number, spread: number) => 1 + (((hash[index] ?? 0) / 255) * 2 - 1) * spread;

  const isFemale =
    male.test(description) === female.test(description) ? (hash[0] ?? 0) % 2 === 0 : female.test(description);
  const prosody = prosodyFromInstructions(description);
  let fundamental = (isFemale ? 205 : 108) * prosody.pitch * vary(1, 0.05);
  let brightness = 720 * vary(2, 0.25);
  let speed = prosody.rate * vary(3, 0.05);
  for (const [keyword, trait] of traits) {
    if (!keyword.test(description)) continue;
    fundamental *= trait.fundamental ?? 1;
    brightness *= trait.brightness ?? 1;
    speed *= trait.speed ?? 1;
  }
  return fitTimbre({
    fundamental,
    brightness,
    speed,
    female: isFemale,
    level: prosody.volume,
    range: prosody.range,
    whisper: prosody.whisper,
  });
}
