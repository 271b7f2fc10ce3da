import { type Colour, hsl } from '../drawing/colours.ts';
import type { Dice } from './dice.ts';
import type { Ground, PromptWords } from './prompt-words.ts';
import type { SubjectColours } from './subjects.ts';

/** The colours of a scene. */
export interface Palette extends SubjectColours {
  /** At the top and at the horizon. */
  sky: readonly [Colour, Colour];
  /** Far and near. */
  ground: readonly [Colour, Colour];
  ridges: readonly [Colour, Colour];
}

const groundHues: Readonly<Record<Ground, number>> = {
  meadow: 0.28,
  sea: 0.56,
  snow: 0.58,
  desert: 0.1,
  city: 0.65,
};

/** Mixes the colours of the words, the pictures and the dice. `lent` are the colours of reference pictures. */
export function mixPalette(
  { ground, light, hues }: PromptWords,
  { arrangement, lent, dice }: { arrangement: number; lent: readonly Colour[]; dice: Dice },
): Palette {
  // The four pictures of a grid are a sixth of the circle apart unless a colour was named.
  const base = hues[0] ?? dice.between('hue', 0, 0.1) + 0.02 + arrangement / 6;
  const other = hues[1] ?? base + dice.between('other hue', 0.4, 0.6);
  const bright = { day: 1, dusk: 0.75, night: 0.4 }[light];
  const skyHue =
    light === 'dusk' ? 0.02 + base / 12 : 0.5 + dice.between('sky hue', 0, 0.12) + arrangement / 40;
  const groundHue = groundHues[ground] + dice.between('ground hue', -0.05, 0.05);
  const white = ground === 'snow' ? 0.3 : 0;
  const [sky, horizon, land] = lent;
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
