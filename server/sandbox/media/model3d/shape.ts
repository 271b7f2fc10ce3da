import { type Color, hsl } from '../drawing/colors.ts';
import { createRandom, deriveSeed } from '../drawing/random.ts';

export type Point = readonly [number, number, number];

/**
 * A point of a closed surface. `u` is the position around the vertical axis, with 0.5 at the front, and `v` the height,
 * both from 0 to 1. Y points up and Z forward.
 */
export type Surface = (u: number, v: number) => Point;

const shapeWords: readonly [RegExp, (random: () => number) => Surface][] = [
  [/\b(cube|box|crate|house|brick)/i, () => superquadric(0.2, 0.2)],
  [/\b(ring|torus|donut|doughnut|wheel|tyre|tire)/i, () => torus],
  [/\b(cylinder|can|barrel|tower|pillar|column)/i, () => superquadric(0.2, 1)],
  [/\b(diamond|gem|crystal|octahedron)/i, () => superquadric(2, 2)],
  [/\b(ball|sphere|globe|planet|orange|apple)/i, () => superquadric(1, 1)],
];

const colorWords: readonly [RegExp, Color][] = [
  [/\bred\b/i, [200, 45, 40]],
  [/\b(orange|wooden)\b/i, [200, 120, 50]],
  [/\b(yellow|gold|golden)\b/i, [225, 190, 50]],
  [/\bgreen\b/i, [60, 150, 70]],
  [/\bblue\b/i, [50, 90, 200]],
  [/\b(purple|violet)\b/i, [130, 70, 180]],
  [/\bblack\b/i, [40, 40, 44]],
  [/\bwhite\b/i, [235, 235, 230]],
];

/** Returns the shape that a prompt names. Without a known word, a vase with an outline that the prompt determines. */
export function chooseShape(prompt: string): Surface {
  const random = createRandom(deriveSeed(prompt, 0));
  return (shapeWords.find(([word]) => word.test(prompt))?.[1] ?? vase)(random);
}

/** Returns the color that a prompt names, or one that its hash determines. */
export function chooseColor(prompt: string): Color {
  return (
    colorWords.find(([word]) => word.test(prompt))?.[1] ??
    hsl(createRandom(deriveSeed(prompt, 1))(), 0.55, 0.5)
  );
}

function superquadric(northSouth: number, eastWest: number): Surface {
  return (u, v) => {
    const [latitude, longitude] = [(v - 0.5) * Math.PI, turn(u)];
    const out = power(Math.cos(latitude), northSouth);
    return [
      out * power(Math.sin(longitude), eastWest),
      power(Math.sin(latitude), northSouth),
      out * power(Math.cos(longitude), eastWest),
    ];
  };
}

function torus(u: number, v: number): Point {
  const [around, tube] = [turn(u), v * 2 * Math.PI];
  const out = 0.7 - 0.3 * Math.cos(tube);
  return [out * Math.sin(around), -0.3 * Math.sin(tube), out * Math.cos(around)];
}

function vase(random: () => number): Surface {
  const [belly, waves, neck] = [0.4 + random() * 0.3, 2 + random() * 4, random() * 0.3];
  return (u, v) => {
    const radius = Math.sin(Math.PI * v) ** 0.4 * (belly + neck * Math.sin(v * waves));
    return [radius * Math.sin(turn(u)), v * 2 - 1, radius * Math.cos(turn(u))];
  };
}

function turn(u: number): number {
  return (u - 0.5) * 2 * Math.PI;
}

function power(base: number, exponent: number): number {
  return Math.sign(base) * Math.abs(base) ** exponent;
}
