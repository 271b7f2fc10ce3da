/** The prosody of speech. Each number is a factor on the default of the voice. */
export interface Prosody {
  /** Speaking rate. */
  rate: number;
  /** Fundamental frequency. */
  pitch: number;
  /** Amplitude. */
  volume: number;
  /** Variation of the pitch. */
  range: number;
  whisper: boolean;
}

export const neutralProsody: Prosody = { rate: 1, pitch: 1, volume: 1, range: 1, whisper: false };

/** Multiplies two sets of factors. */
export function combineProsody(base: Prosody, change: Partial<Prosody>): Prosody {
  return {
    rate: base.rate * (change.rate ?? 1),
    pitch: base.pitch * (change.pitch ?? 1),
    volume: base.volume * (change.volume ?? 1),
    range: base.range * (change.range ?? 1),
    whisper: base.whisper || (change.whisper ?? false),
  };
}

/** Keywords recognized in free-text instructions, in English and Chinese. Each one counts once. */
const keywords: readonly [RegExp, Partial<Prosody>][] = [
  [/\bslow|慢/i, { rate: 0.75 }],
  [/\b(fast|quick|rapid)|快/i, { rate: 1.35 }],
  [/\bhigh|高/i, { pitch: 1.25 }],
  [/\b(low|deep)|低|沉/i, { pitch: 0.8 }],
  [/\b(loud|shout)|大声|响/i, { volume: 1.6 }],
  [/\b(soft|quiet|gentl)|轻|柔/i, { volume: 0.6 }],
  [/\bwhisper|耳语|悄/i, { volume: 0.8, whisper: true }],
  [/\b(excit|happy|happily|cheer|joy)|兴奋|开心|激动/i, { rate: 1.15, pitch: 1.12, range: 1.5 }],
  [/\b(calm|seren|relax)|平静|冷静/i, { rate: 0.9, range: 0.6 }],
  [/\b(sad|mourn)|悲|伤心/i, { rate: 0.85, pitch: 0.9, volume: 0.8, range: 0.6 }],
  [/\b(angry|angrily|furious)|生气|愤怒/i, { rate: 1.1, volume: 1.4, range: 1.3 }],
];

/**
 * Derives prosody from instructions such as "speak slowly, in a deep voice". Each factor is raised to the power
 * `stress`, so a value above 1 exaggerates it.
 */
export function prosodyFromInstructions(instructions: string, exponent = 1): Prosody {
  let delivery = neutralProsody;
  for (const [cue, change] of keywords) {
    if (!cue.test(instructions)) continue;
    const stressed = Object.entries(change).map(([key, value]) => [
      key,
      typeof value === 'number' ? value ** exponent : value,
    ]);
    delivery = combineProsody(delivery, Object.fromEntries(stressed));
  }
  return delivery;
}

/** Emotions of the beta models. */
export const emotionProsody: Readonly<Record<string, Partial<Prosody>>> = {
  happy: { rate: 1.1, pitch: 1.1, range: 1.4 },
  sad: { rate: 0.85, pitch: 0.92, volume: 0.8, range: 0.6 },
  angry: { rate: 1.1, volume: 1.4, range: 1.3 },
  fearful: { rate: 1.15, pitch: 1.12, volume: 0.8 },
  disgusted: { rate: 0.9, pitch: 0.95, range: 1.2 },
  surprised: { rate: 1.05, pitch: 1.2, range: 1.6 },
  calm: { rate: 0.95, range: 0.7 },
  whisper: { rate: 0.95, volume: 0.8, whisper: true },
};
