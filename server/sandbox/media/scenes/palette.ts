import { type Color, hsl } from '../drawing/colors.ts';
import type { Ground, PromptWords } from './prompt-words.ts';
import type { SceneRandom } from './scene-random.ts';
import type { SubjectColors } from './subjects.ts';

/** Colors of a scene. */
export interface Palette extends SubjectColors {
  /** Colors at the top and at the horizon. */
  sky: readonly [Color, Color];
  /** Colors in the distance and in the foreground. */
  ground: readonly [Color, Color];
  ridges: readonly [Color, Color];
}

const groundHues: Readonly<Record<Ground, number>> = {
  meadow: 0.28,
  sea: 0.56,
  snow: 0.58,
  desert: 0.1,
  city: 0.65,
};

/**
 * Combines colors from the prompt, the reference images and random numbers. `referenceColors` are those of a reference image.
 */
export function mixPalette(
  { ground, light, hues }: PromptWords,
  {
    arrangement,
    referenceColors,
    random,
  }: { arrangement: number; referenceColors: readonly Color[]; random: SceneRandom },
): Palette {
  // Without a named color, the hues of the four images of a grid are a sixth of the color wheel apart.
  const base = hues[0] ?? random.between('hue', 0, 0.1) + 0.02 + arrangement / 6;
  const other = hues[1] ?? base + random.between('other hue', 0.4, 0.6);
  const bright = { day: 1, dusk: 0.75, night: 0.4 }[light];
  const skyHue =
    light === 'dusk' ? 0.02 + base / 12 : 0.5 + random.between('sky hue', 0, 0.12) + arrangement / 40;
  const groundHue = groundHues[ground] + random.between('ground hue', -0.05, 0.05);
  const white = ground === 'snow' ? 0.3 : 0;
  const [sky, horizon, land] = referenceColors;
  return {
    sky: [
      sky ?? hsl(skyHue, 0.6, 0.5 * bright),
      horizon ?? hsl(skyHue + (light === 'dusk' ? 0.06 : 0.03), 0.7, Math.min(0.9, 0.85 * bright)),
    ],
    ground: [
      land ?? hsl(groundHue, 0.4 - white, (0.5 + white) * bright),
      hsl(groundHue, 0.45 - white, (0.32 + white) * bright),
    ],
    ridges: [hsl(skyHue + 0.04, 0.3, 0.55 * bright), hsl(groundHue + 0.06, 0.3 - white / 2, 0.4 * bright)],
    subject: hsl(base, 0.75, 0.35 + 0.2 * bright),
    accent: hsl(other, 0.8, 0.4 + 0.2 * bright),
    dark: hsl(base, 0.3, 0.14),
    pale: hsl(other, 0.3, 0.92),
  };
}
