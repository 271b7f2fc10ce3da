/** How something is said. Every number multiplies what the voice does by itself. */
export interface Delivery {
  /** Speed. */
  rate: number;
  /** Fundamental frequency. */
  pitch: number;
  /** Amplitude. */
  volume: number;
  /** Liveliness of the melody. */
  range: number;
  whisper: boolean;
}

export const plainDelivery: Delivery = { rate: 1, pitch: 1, volume: 1, range: 1, whisper: false };

/** Applies one manner on top of another. */
export function combine(base: Delivery, change: Partial<Delivery>): Delivery {
  return {
    rate: base.rate * (change.rate ?? 1),
    pitch: base.pitch * (change.pitch ?? 1),
    volume: base.volume * (change.volume ?? 1),
    range: base.range * (change.range ?? 1),
    whisper: base.whisper || (change.whisper ?? false),
  };
}

/** The words of free-text instructions that are heard, in English and Chinese. Each counts once. */
const cues: readonly [RegExp, Partial<Delivery>][] = [
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
 * Reads instructions such as "speak slowly, in a deep voice". `stress` above 1 exaggerates them: it is the power to
 * which each factor is raised.
 */
export function deliveryOf(instructions: string, stress = 1): Delivery {
  let delivery = plainDelivery;
  for (const [cue, change] of cues) {
    if (!cue.test(instructions)) continue;
    const stressed = Object.entries(change).map(([key, value]) => [
      key,
      typeof value === 'number' ? value ** stress : value,
    ]);
    delivery = combine(delivery, Object.fromEntries(stressed));
  }
  return delivery;
}

/** The emotions of the beta models. */
export const emotions: Readonly<Record<string, Partial<Delivery>>> = {
  happy: { rate: 1.1, pitch: 1.1, range: 1.4 },
  sad: { rate: 0.85, pitch: 0.92, volume: 0.8, range: 0.6 },
  angry: { rate: 1.1, volume: 1.4, range: 1.3 },
  fearful: { rate: 1.15, pitch: 1.12, volume: 0.8 },
  disgusted: { rate: 0.9, pitch: 0.95, range: 1.2 },
  surprised: { rate: 1.05, pitch: 1.2, range: 1.6 },
  calm: { rate: 0.95, range: 0.7 },
  whisper: { rate: 0.95, volume: 0.8, whisper: true },
};
