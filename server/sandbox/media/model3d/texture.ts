import { hex } from '../drawing/colors.ts';
import { createRandom, deriveSeed } from '../drawing/random.ts';
import { charAdvance, textPath, toPrintable } from '../drawing/text.ts';
import { imageElement, svgElement } from '../images/rasterize.ts';
import type { ModelPlan } from '../jobs.ts';
import { chooseColor } from './shape.ts';

/** Left edges of the front, left, back and right sides. The back wraps around the seam. */
const viewEdges = [[0.375], [0.125], [-0.125, 0.875], [0.625]];

/** Creates the texture as an SVG: the images of the sides, or a pattern in the color of the prompt with its text. */
export function createTextureSvg(
  { prompt, views }: Pick<ModelPlan, 'prompt' | 'views'>,
  size: number,
): string {
  const base = `<rect width="100%" height="100%" fill="${hex(chooseColor(prompt))}"/>`;
  const body = views.some(Boolean) ? drawViews(views, size) : drawPattern(prompt, size);
  return svgElement({ width: size, height: size }, base + body);
}

function drawViews(views: ModelPlan['views'], size: number): string {
  return views
    .flatMap((view, index) => {
      const area = { y: 0, width: size / 4, height: size };
      return (viewEdges[index] ?? []).map((edge) =>
        view ? imageElement(view, 'image/png', { ...area, x: edge * size }, 'none') : '',
      );
    })
    .join('');
}

function drawPattern(prompt: string, size: number): string {
  const random = createRandom(deriveSeed(prompt, 2));
  const dots = Array.from({ length: 40 }, () => {
    const [x, y, radius] = [random() * size, random() * size, (0.01 + random() * 0.04) * size];
    return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${random() < 0.5 ? '#fff' : '#000'}" fill-opacity="0.2"/>`;
  });
  const text = toPrintable(prompt).trim().slice(0, 40);
  const scale = Math.max(1, Math.floor((size * 0.5) / (charAdvance * Math.max(1, text.length))));
  const left = Math.round((size - text.length * charAdvance * scale) / 2);
  return `${dots.join('')}<path d="${textPath(text, left, Math.round(size * 0.48), scale)}" fill="#fff"/>`;
}
