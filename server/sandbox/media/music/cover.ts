import { hex, hsl } from '../drawing/colors.ts';
import { createRandom, deriveSeed } from '../drawing/random.ts';
import { charAdvance, glyphHeight, lineHeight, textPath, toPrintable, wrapText } from '../drawing/text.ts';
import { rasterize, svgElement } from '../images/rasterize.ts';
import type { SongPlan } from './song-plan.ts';
import { findStyle } from './sound.ts';

/** Side lengths of both images in pixels. */
const coverSides = { small: 320, large: 768 } as const;

export interface Cover {
  small: Uint8Array<ArrayBuffer>;
  large: Uint8Array<ArrayBuffer>;
}

/** Draws the cover of a song as two PNGs: its title above hills in the colors of the style. */
export async function drawCover(plan: SongPlan): Promise<Cover> {
  const body = createCoverSvg(plan);
  const draw = (side: number) =>
    rasterize(
      svgElement({ width: side, height: side }, `<g transform="scale(${side / 100})">${body}</g>`),
      (raster) => new Uint8Array(raster.asPng()),
    );
  return { small: await draw(coverSides.small), large: await draw(coverSides.large) };
}

/** Draws the cover as SVG on a square of 100 by 100. */
function createCoverSvg({ title, sound, seed }: SongPlan): string {
  const random = createRandom(deriveSeed(title, seed));
  const hue = findStyle(sound).hue + (random() - 0.5) * 0.1;
  const [sky, haze, light] = [hsl(hue, 0.6, 0.22), hsl(hue + 0.08, 0.65, 0.6), hsl(hue + 0.5, 0.9, 0.75)];
  const hills = [0, 1, 2, 3].map((depth) => {
    const color = hex(hsl(hue + depth * 0.03, 0.5, 0.42 - depth * 0.09));
    return `<path d="${createHillPath(48 + depth * 12, 9 - depth, random)}" fill="${color}"/>`;
  });
  const sun = `<circle cx="${20 + random() * 60}" cy="${20 + random() * 20}" r="${7 + random() * 8}" fill="${hex(light)}"/>`;
  return (
    `<defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="${hex(sky)}"/>` +
    `<stop offset="0.7" stop-color="${hex(haze)}"/></linearGradient></defs>` +
    `<rect width="100" height="100" fill="url(#sky)"/>${sun}${hills.join('')}${createTitle(title)}`
  );
}

function createHillPath(top: number, height: number, next: () => number): string {
  const [first, second, shift] = [1 + next() * 2, 3 + next() * 3, next() * 6];
  const points = Array.from({ length: 41 }, (_, index) => {
    const angle = (index / 40) * Math.PI * 2;
    const y = top + height * (Math.sin(angle * first * 0.5 + shift) + 0.4 * Math.sin(angle * second * 0.5));
    return `${(index * 2.5).toFixed(1)} ${y.toFixed(2)}`;
  });
  return `M0 100L${points.join('L')}L100 100z`;
}

function createTitle(title: string): string {
  const text = toPrintable(title).trim();
  const scale = text.length <= 24 ? 1 : 0.7;
  const columns = Math.floor(88 / (charAdvance * scale));
  const lines = wrapText(text, columns, 4);
  const top = 92 - ((lines.length - 1) * lineHeight + glyphHeight) * scale;
  const path = lines
    .map((line, index) => textPath(line, 6, top + index * lineHeight * scale, scale))
    .join('');
  return path === '' ? '' : `<path d="${path}" fill="#fff"/>`;
}
