/** Shortest and longest video in seconds; -1 is taken besides. */
export type SecondsRange = readonly [shortest: number, longest: number];

/** How long the videos of each family may be. */
export const familySeconds = {
  gamma: [2, 30],
  eta: [1, 15],
  seedance20: [4, 15],
  seedance25: [4, 30],
} as const satisfies Readonly<Record<string, SecondsRange>>;

const families: readonly { models: RegExp; seconds: SecondsRange }[] = [
  { models: /^gamma/, seconds: familySeconds.gamma },
  { models: /^eta-/, seconds: familySeconds.eta },
  { models: /^(epsilon|zeta)-delta-2-0-/, seconds: familySeconds.seedance20 },
  { models: /^(epsilon|zeta)-delta-2-5-/, seconds: familySeconds.seedance25 },
];

/** How long a video of a model may be; undefined where its id does not tell. */
export function videoSeconds(modelId: string): SecondsRange | undefined {
  return families.find(({ models }) => models.test(modelId))?.seconds;
}

/** What is asked of a length, the same whichever check finds it out of range. */
export function secondsWords([shortest, longest]: SecondsRange): string {
  return `must be -1 or ${shortest} to ${longest}.`;
}
