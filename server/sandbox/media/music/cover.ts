import { chance, seedOf } from '../drawing/chance.ts';
import { hex, hsl } from '../drawing/colours.ts';
import { advance, glyphHeight, lineHeight, spellable, textPath, wrapText } from '../drawing/text.ts';
import { rasterize, svgElement } from '../pictures/rasterize.ts';
import type { SongPlan } from './song-plan.ts';
import { styleOf } from './sound.ts';

/** Sides of both pictures in pixels. */
export const coverSides = { small: 320, large: 768 } as const;

export interface Cover {
  small: Uint8Array<ArrayBuffer>;
  large: Uint8Array<ArrayBuffer>;
}

/** The cover of a song in two sizes, as PNGs: its title over hills in the colours of its style. */
export async function drawCover(plan: SongPlan): Promise<Cover> {
  const body = scene(plan);
  const draw = (side: number) =>
    rasterize(
      svgElement({ width: side, height: side }, `<g transform="scale(${side / 100})">${body}</g>`),
      (raster) => new Uint8Array(raster.asPng()),
    );
  return { small: await draw(coverSides.small), large: await draw(coverSides.large) };
}

/** On a square of 100 by 100. */
function scene({ title, sound, seed }: SongPlan): string {
  const next = chance(seedOf(title, seed));
  const hue = styleOf(sound).hue + (next() - 0.5) * 0.1;
  const [sky, haze, light] = [hsl(hue, 0.6, 0.22), hsl(hue + 0.08, 0.65, 0.6), hsl(hue + 0.5, 0.9, 0.75)];
  const hills = [0, 1, 2, 3].map((depth) => {
    const colour = hex(hsl(hue + depth * 0.03, 0.5, 0.42 - depth * 0.09));
    return `<path d="${hill(48 + depth * 12, 9 - depth, next)}" fill="${colour}"/>`;
  });
  const sun = `<circle cx="${20 + next() * 60}" cy="${20 + next() * 20}" r="${7 + next() * 8}" fill="${hex(light)}"/>`;
  return (
    `<defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="${hex(sky)}"/>` +
    `<stop offset="0.7" stop-color="${hex(haze)}"/></linearGradient></defs>` +
    `<rect width="100" height="100" fill="url(#sky)"/>${sun}${hills.join('')}${lettering(title)}`
  );
}

function hill(top: number, height: number, next: () => number): string {
  const [first, second, shift] = [1 + next() * 2, 3 + next() * 3, next() * 6];
  const points = Array.from({ length: 41 }, (_, index) => {
    const place = (index / 40) * Math.PI * 2;
    const y = top + height * (Math.sin(place * first * 0.5 + shift) + 0.4 * Math.sin(place * second * 0.5));
    return `${(index * 2.5).toFixed(1)} ${y.toFixed(2)}`;
  });
  return `M0 100L${points.join('L')}L100 100z`;
}

function lettering(title: string): string {
  const text = spellable(title).trim();
  const scale = text.length <= 24 ? 1 : 0.7;
  const columns = Math.floor(88 / (advance * scale));
  const lines = wrapText(text, columns, 4);
  const top = 92 - ((lines.length - 1) * lineHeight + glyphHeight) * scale;
  const path = lines
    .map((line, index) => textPath(line, 6, top + index * lineHeight * scale, scale))
    .join('');
  return path === '' ? '' : `<path d="${path}" fill="#fff"/>`;
}
