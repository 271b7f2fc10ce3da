import { chance, seedOf } from '../drawing/chance.ts';
import { hex } from '../drawing/colours.ts';
import { advance, spellable, textPath } from '../drawing/text.ts';
import type { ModelPlan } from '../jobs.ts';
import { imageElement, svgElement } from '../pictures/rasterize.ts';
import { colourOf } from './shape.ts';

/** Left edges of the front, the left, the back and the right side; the back comes around the seam. */
const viewEdges = [[0.375], [0.125], [-0.125, 0.875], [0.625]];

/** The texture as an SVG: the pictures of the sides, or a pattern in the prompt's colour with its words around it. */
export function textureSvg({ prompt, views }: Pick<ModelPlan, 'prompt' | 'views'>, size: number): string {
  const base = `<rect width="100%" height="100%" fill="${hex(colourOf(prompt))}"/>`;
  const body = views.some(Boolean) ? drawViews(views, size) : drawPattern(prompt, size);
  return svgElement({ width: size, height: size }, base + body);
}

function drawViews(views: ModelPlan['views'], size: number): string {
  return views
    .flatMap((view, index) => {
      const place = { y: 0, width: size / 4, height: size };
      return (viewEdges[index] ?? []).map((edge) =>
        view ? imageElement(view, 'image/png', { ...place, x: edge * size }, 'none') : '',
      );
    })
    .join('');
}

function drawPattern(prompt: string, size: number): string {
  const random = chance(seedOf(prompt, 2));
  const dots = Array.from({ length: 40 }, () => {
    const [x, y, radius] = [random() * size, random() * size, (0.01 + random() * 0.04) * size];
    return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${random() < 0.5 ? '#fff' : '#000'}" fill-opacity="0.2"/>`;
  });
  const text = spellable(prompt).trim().slice(0, 40);
  const scale = Math.max(1, Math.floor((size * 0.5) / (advance * Math.max(1, text.length))));
  const left = Math.round((size - text.length * advance * scale) / 2);
  return `${dots.join('')}<path d="${textPath(text, left, Math.round(size * 0.48), scale)}" fill="#fff"/>`;
}
